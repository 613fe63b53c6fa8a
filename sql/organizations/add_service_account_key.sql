-- Adds an API key for a service account of an organization. Called by src/organizations/service-accounts.ts as the caller.
--
-- A reader owns svc.add_service_account_key(), so the policies of svc.service_accounts decide whether the caller manages the
-- account. The lock lets a removal at the same moment either come first, or see the key and revoke it.

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
  -- As in auth.add_api_key(): a key would outlive a JWT, an API key and the visit of an administrator who acts as the user.
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

create or replace function svc.add_service_account_key(
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
begin
  perform from svc.service_accounts s where s.id = account and s.role is not null for share;
  if found then
    return query
    select k.*
      from svc_private.insert_service_account_key(session_id, account, name, start, hash, scopes, lifetime, most) k;
  end if;
end
$$;

call svc_private.run_as_reader(
  'svc.add_service_account_key(text, text, text, text, bytea, text[], interval, integer)', 'svc_reader_authenticated');

comment on function svc.add_service_account_key(text, text, text, text, bytea, text[], interval, integer) is
  'Adds an API key for a service account that the caller manages; no row if there is none. '
  'Definer: a reader owns it, so that the policies of svc.service_accounts decide.';
