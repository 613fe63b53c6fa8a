-- The API keys of a user, the newest first, without their hashes. Called by src/auth/api-keys/api-keys.ts as svc_auth.

create or replace function auth.list_api_keys(user_id text)
returns table (
  id text, name text, start text, scopes text[], created_at timestamptz, expires_at timestamptz,
  last_used_at timestamptz
)
language sql
stable
set search_path = ''
as $$
  select k.id, k.name, k.start, k.scopes, k.created_at, k.expires_at, k.last_used_at
    from auth.api_key k
   where k.user_id = list_api_keys.user_id
   order by k.created_at desc, k.id
$$;

grant execute on function auth.list_api_keys(text) to svc_auth;

comment on function auth.list_api_keys(text) is 'The API keys of a user, also expired ones, the newest first.';
