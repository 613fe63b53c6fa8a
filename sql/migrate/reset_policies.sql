-- Prepares a table for a file in policies/: drops the table's policies and revokes the privileges of the request roles
-- on it. Called by src/migrate/migrate.ts before each such file, so that a policy removed from the text is also removed
-- from the database. Runs inside the migration's transaction: no other session sees the table without its policies.
--
-- A policy named app_… on a table of the platform belongs to the application, for example one by which a team reads its
-- members' files. A changed file of the platform must not drop it.

create or replace function svc_private.reset_policies(target regclass)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  policy record;
begin
  for policy in
    select p.polname
      from pg_catalog.pg_policy p
      join pg_catalog.pg_class c on c.oid = p.polrelid
     where p.polrelid = target and not (c.relnamespace = 'svc'::regnamespace and p.polname like 'app\_%')
  loop
    execute format('drop policy %I on %s', policy.polname, target);
  end loop;

  execute format('revoke all on %s from svc_anonymous, svc_authenticated, '
    'svc_reader_anonymous, svc_reader_authenticated, svc_request, svc_auth', target);
end
$$;

comment on function svc_private.reset_policies(regclass) is
  'Drops all policies of a table and the privileges of the request roles, before its policy file is applied.';
