-- Sessions. Only the login of the authentication library works here.
--
-- The request roles get nothing: the table shows who is signed in where. SQL inside a request, even injected SQL, must
-- not be able to read, extend or end a session.

alter table auth.session enable row level security;

create policy all_auth on auth.session
  for all to svc_auth
  using (true)
  with check (true);

grant select, insert, update, delete on auth.session to svc_auth;

comment on policy all_auth on auth.session is 'The authentication library works on all sessions.';
