-- Users. Only the login of the authentication library works here.
--
-- The request roles get nothing, not even their own row. The table holds everybody's e-mail addresses, and under a
-- policy for "my row" unique and foreign keys would still reveal who exists. A handler has its user in ctx.auth. An
-- application that shows other users keeps a profile table with its own policies. Inserting a row with a foreign key to
-- this table needs no grant: PostgreSQL checks foreign keys as the owner. svc_system bypasses RLS and changes
-- additional fields through ctx.unsafeDb.

alter table auth."user" enable row level security;

create policy all_auth on auth."user"
  for all to svc_auth
  using (true)
  with check (true);

grant select, insert, update, delete on auth."user" to svc_auth;

comment on policy all_auth on auth."user" is
  'The authentication library works on all users. Requests have no access to the table.';
