-- Passwords (hashed) and the tokens of social providers. Only the authentication library's login works here.
--
-- The request roles get nothing: there is no question a handler could have that this table answers.

alter table auth.account enable row level security;

create policy all_auth on auth.account
  for all to svc_auth
  using (true)
  with check (true);

grant select, insert, update, delete on auth.account to svc_auth;

-- The default privileges of schemas.sql give svc_system every table. What knows a password's hash of its own choice signs in as anybody; svc_system reads, and changes encrypted values by svc_private.reseal() alone.
revoke insert, update, delete on auth.account from svc_system;

comment on policy all_auth on auth.account is 'The authentication library works on all accounts.';
