-- One-time values for verification, reset and OAuth. Only the authentication library's login works here.
--
-- The request roles get nothing: who reads a value can use it.

alter table auth.verification enable row level security;

create policy all_auth on auth.verification
  for all to svc_auth
  using (true)
  with check (true);

grant select, insert, update, delete on auth.verification to svc_auth;

comment on policy all_auth on auth.verification is 'The authentication library works on all one-time values.';
