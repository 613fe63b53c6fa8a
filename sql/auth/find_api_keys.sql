-- The live API keys with these hashes, and their users. Called by src/auth/api-keys/key-lookup.ts as svc_auth, once for all
-- requests that wait for it: unknown keys cost one statement together.
--
-- fields is the user's row as in auth.find_session(). is_due says that the use of the key should be noted.

create or replace function auth.find_api_keys(hashes bytea[])
returns table (
  hash bytea, key_id text, scopes text[], expires_at timestamptz, user_id text, email text, name text, fields jsonb,
  is_due boolean
)
language sql
stable
set search_path = ''
as $$
  select k.hash, k.id, k.scopes, k.expires_at, u.id, u.email, u.name,
         to_jsonb(u) - array['id', 'email', 'name', 'email_verified', 'image', 'created_at', 'updated_at'],
         coalesce(k.last_used_at < now() - interval '10 minutes', true)
    from auth.api_key k
    join auth."user" u on u.id = k.user_id
   where k.hash = any (find_api_keys.hashes) and k.expires_at > now() and not auth.is_banned(u)
$$;

grant execute on function auth.find_api_keys(bytea[]) to svc_auth;

comment on function auth.find_api_keys(bytea[]) is
  'The live API keys with these hashes and their users; none of users who are banned.';
