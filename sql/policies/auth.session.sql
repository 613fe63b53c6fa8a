-- Sessions. Only the authentication library's login works here.
--
-- The request roles get nothing: the table says who is signed in where. SQL inside a request, however it came there,
-- must not be able to read, keep alive or end a session.

alter table auth.session enable row level security;

create policy all_auth on auth.session
  for all to svc_auth
  using (true)
  with check (true);

grant select, insert, update, delete on auth.session to svc_auth;

comment on policy all_auth on auth.session is 'The authentication library works on all sessions.';
