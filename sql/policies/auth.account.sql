-- Passwords (hashed) and the tokens of social providers. Only the login of the authentication library works here.
--
-- The request roles get nothing: no handler needs this table.

alter table auth.account enable row level security;

create policy all_auth on auth.account
  for all to svc_auth
  using (true)
  with check (true);

grant select, insert, update, delete on auth.account to svc_auth;

-- The default privileges of schemas.sql give svc_system every table. With write access it could store the hash of a
-- known password and sign in as anybody. So svc_system may only read, and changes encrypted values only through
-- svc_private.reseal().
revoke insert, update, delete on auth.account from svc_system;

comment on policy all_auth on auth.account is 'The authentication library works on all accounts.';
