-- API keys. Only the login of the authentication library works here.
--
-- The request roles get nothing: with write access, SQL inside a request could give a key more scopes.

alter table auth.api_key enable row level security;

create policy all_auth on auth.api_key
  for all to svc_auth
  using (true)
  with check (true);

grant select, insert, update, delete on auth.api_key to svc_auth;

comment on policy all_auth on auth.api_key is 'The functions of sql/auth/ work on the keys of all users.';
