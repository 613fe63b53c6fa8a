-- Adds an API key for the user of a session. Called by src/auth/api-keys/api-keys.ts as svc_auth.

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
language sql
volatile
set search_path = ''
as $$
  select k.*
    from auth.insert_api_key(session_id, add_api_key.user_id, add_api_key.user_id, name, start, hash, scopes, lifetime, most) k
$$;

grant execute on function auth.add_api_key(text, text, text, text, bytea, text[], interval, integer) to svc_auth;

comment on function auth.add_api_key(text, text, text, text, bytea, text[], interval, integer) is
  'A new API key of a session''s user, or why not: ended, impersonated, many.';
