-- Attempts. Only the login of the authentication library works here.
--
-- The request roles get nothing: with write access they could lift the limit on guessing passwords, or lock others out.

alter table auth.attempt enable row level security;

create policy all_auth on auth.attempt
  for all to svc_auth
  using (true)
  with check (true);

grant select, insert, update, delete on auth.attempt to svc_auth;

comment on policy all_auth on auth.attempt is
  'The authentication library counts and removes the attempts of all callers.';

comment on table auth.attempt is
  'Attempts in a window of time that begins with the first one. '
  'lint:allow unlogged_table: a crash may empty it without harm.';
