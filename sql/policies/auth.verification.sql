-- One-time values for verification, reset and OAuth. Only the login of the authentication library works here.
--
-- The request roles get nothing: reading a value is enough to use it.

alter table auth.verification enable row level security;

create policy all_auth on auth.verification
  for all to svc_auth
  using (true)
  with check (true);

grant select, insert, update, delete on auth.verification to svc_auth;

comment on policy all_auth on auth.verification is 'The authentication library works on all one-time values.';
