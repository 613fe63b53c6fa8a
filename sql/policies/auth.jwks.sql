-- Signing keys. Only the authentication library's login works here.
--
-- The request roles get nothing: a row that one could insert here would be a key that every process believes, so write
-- access is the power to be anybody. The public halves are served by GET /api/auth/jwks.

alter table auth.jwks enable row level security;

create policy all_auth on auth.jwks
  for all to svc_auth
  using (true)
  with check (true);

grant select, insert, update, delete on auth.jwks to svc_auth;

-- The default privileges of schemas.sql give svc_system every table. The system role reads (backups, counts of secrets) and never adds a key.
revoke insert, update, delete on auth.jwks from svc_system;

comment on policy all_auth on auth.jwks is 'The authentication librarys login reads, adds and retires signing keys.';
