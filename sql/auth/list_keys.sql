-- The keys whose signatures are accepted, newest first. Called by src/auth/sessions/key-store.ts as svc_auth: when a
-- process starts, when a token names an unknown key, and at most once a minute while it signs or verifies.

create or replace function auth.list_keys()
returns table (id text, public_key text, private_key text, expires_at timestamptz)
language sql
stable
set search_path = ''
as $$
  select k.id, k.public_key, k.private_key, k.expires_at
    from auth.jwks k
   where k.alg = 'EdDSA' and (k.expires_at is null or k.expires_at > pg_catalog.now())
   order by k.created_at desc, k.id
$$;

grant execute on function auth.list_keys() to svc_auth;

comment on function auth.list_keys() is 'Live signing keys, newest first; private keys are encrypted.';
