-- Adds an API key for the user of a session. Called by src/auth/api-keys/api-keys.ts as svc_auth.
--
-- The session is read here: a JWT outlives its session by moments, and a key would last for years. An administrator who acts
-- as the user (the column impersonated_by of the `admin` plugin) gets no key, since it would outlive the visit. Requests of
-- one user wait for each other, so that two do not both take the last place.

create or replace function auth.add_api_key(
  session_id text,
  user_id text,
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
  perform pg_catalog.pg_advisory_xact_lock(pg_catalog.hashtextextended('auth.api_key ' || add_api_key.user_id, 0));
  select s.* into own
    from auth.session s
   where s.id = add_api_key.session_id and s.user_id = add_api_key.user_id and s.expires_at > now()
     for key share;
  if not found then
    return query select null::text, null::timestamptz, null::timestamptz, 'ended';
  elsif pg_catalog.to_jsonb(own) ->> 'impersonated_by' is not null then
    return query select null::text, null::timestamptz, null::timestamptz, 'impersonated';
  elsif (select count(*) from auth.api_key k where k.user_id = add_api_key.user_id and k.expires_at > now()) >= most then
    return query select null::text, null::timestamptz, null::timestamptz, 'many';
  else
    return query
    insert into auth.api_key as k (user_id, name, start, hash, scopes, expires_at)
    values (add_api_key.user_id, add_api_key.name, add_api_key.start, add_api_key.hash, add_api_key.scopes,
            now() + lifetime)
    returning k.id, k.created_at, k.expires_at, null::text;
  end if;
end
$$;

grant execute on function auth.add_api_key(text, text, text, text, bytea, text[], interval, integer) to svc_auth;

comment on function auth.add_api_key(text, text, text, text, bytea, text[], interval, integer) is
  'A new API key of a session''s user, or why not: ended, impersonated, many.';
