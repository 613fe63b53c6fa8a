-- Signing keys. Only the login of the authentication library works here.
--
-- The request roles get nothing: every process trusts a key in this table, so write access would allow impersonating
-- any user. GET /api/auth/jwks serves the public halves.

alter table auth.jwks enable row level security;

create policy all_auth on auth.jwks
  for all to svc_auth
  using (true)
  with check (true);

grant select, insert, update, delete on auth.jwks to svc_auth;

-- The default privileges of schemas.sql give svc_system every table. The system role reads (backups, counts of secrets)
-- and never adds a key.
revoke insert, update, delete on auth.jwks from svc_system;

comment on policy all_auth on auth.jwks is 'The authentication library reads, adds and retires signing keys.';
