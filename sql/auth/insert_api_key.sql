-- Inserts an API key that a person gets in a session. Called by auth.add_api_key(), and for service accounts by
-- svc_private.insert_service_account_key(), which has asked the policies.
--
-- The session is read here: a JWT outlives its session by moments, and a key would last for years. An administrator who acts
-- as the user (the column impersonated_by of the `admin` plugin) gets no key, since it would outlive the visit. Requests for
-- one account wait for each other, so that two do not both take the last place.

create or replace function auth.insert_api_key(
  session_id text,
  person text,
  account text,  -- whose key it is: the person, or a service account
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
set search_path = ''
as $$
#variable_conflict use_column
declare
  own auth.session;
begin
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('auth.api_key ' || account, 0));
  -- The user before the session, as the deletion of an account: otherwise the two could wait for each other.
  perform from auth."user" u where u.id = person for key share;
  select s.* into own
    from auth.session s
   where s.id = insert_api_key.session_id and s.user_id = person and s.expires_at > now()
     for key share;
  if not found then
    return query select null::text, null::timestamptz, null::timestamptz, 'ended';
  elsif pg_catalog.to_jsonb(own) ->> 'impersonated_by' is not null then
    return query select null::text, null::timestamptz, null::timestamptz, 'impersonated';
  elsif (select count(*) from auth.api_key k where k.user_id = account and k.expires_at > now()) >= most then
    return query select null::text, null::timestamptz, null::timestamptz, 'many';
  else
    return query
    insert into auth.api_key as k (user_id, name, start, hash, scopes, expires_at, created_by)
    values (account, insert_api_key.name, insert_api_key.start, insert_api_key.hash, insert_api_key.scopes,
            now() + lifetime, nullif(person, account))
    returning k.id, k.created_at, k.expires_at, null::text;
  end if;
end
$$;

grant execute on function auth.insert_api_key(text, text, text, text, text, bytea, text[], interval, integer) to svc_auth;

comment on function auth.insert_api_key(text, text, text, text, text, bytea, text[], interval, integer) is
  'A new API key of a person or a service account, or why not: ended, impersonated, many.';
