-- Inserts an API key of a service account. Called by svc.add_service_account_key(), which asks the policies.
--
-- As in auth.add_api_key() the session is read here: a key would outlive a JWT, an API key, and the visit of an administrator
-- who acts as the user.

create or replace function svc_private.insert_service_account_key(
  session_id text,
  account text,
  name text,
  start text,
  hash bytea,
  scopes text[],
  lifetime interval,
  most integer
)
returns table (id text, created_at timestamptz, expires_at timestamptz, refused text)
language plpgsql
volatile
security definer
set search_path = ''
as $$
#variable_conflict use_column
declare
  me constant text := svc.current_user_id();
  own auth.session;
begin
  select s.* into own
    from auth.session s
   where s.id = session_id and s.user_id = me and s.expires_at > now()
     for key share;
  if not found then
    return query select null::text, null::timestamptz, null::timestamptz, 'ended';
    return;
  elsif to_jsonb(own) ->> 'impersonated_by' is not null then
    return query select null::text, null::timestamptz, null::timestamptz, 'impersonated';
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('auth.api_key ' || account, 0));
  if (select count(*) from auth.api_key k where k.user_id = account and k.expires_at > now()) >= most then
    return query select null::text, null::timestamptz, null::timestamptz, 'many';
    return;
  end if;
  return query
  insert into auth.api_key as k (user_id, name, start, hash, scopes, expires_at, created_by)
  values (account, insert_service_account_key.name, insert_service_account_key.start, insert_service_account_key.hash,
          insert_service_account_key.scopes, now() + lifetime, me)
  returning k.id, k.created_at, k.expires_at, null::text;
end
$$;

grant execute on function svc_private.insert_service_account_key(text, text, text, text, bytea, text[], interval, integer)
  to svc_reader_authenticated;

comment on function svc_private.insert_service_account_key(text, text, text, text, bytea, text[], interval, integer) is
  'A new API key of a service account, or why not: ended, impersonated, many. '
  'Definer: readers write no keys.';
