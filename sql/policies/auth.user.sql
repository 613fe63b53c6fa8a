-- Users. Only the authentication library's login works here.
--
-- The request roles get nothing, not even their own row: the table is the directory of everybody's e-mail addresses,
-- and a policy for "my row" would still tell through unique and foreign keys who exists. A handler has its user in
-- ctx.auth; an application that shows other people keeps a profile table of its own, with its own policies. Foreign
-- keys to this table need no grant for the one who inserts: PostgreSQL checks them as the owner. svc_system bypasses
-- RLS and changes additional fields through ctx.unsafeDb.

alter table auth."user" enable row level security;

create policy all_auth on auth."user"
  for all to svc_auth
  using (true)
  with check (true);

grant select, insert, update, delete on auth."user" to svc_auth;

comment on policy all_auth on auth."user" is
  'The authentication library works on all users. Nobody else reaches the table in a request.';
