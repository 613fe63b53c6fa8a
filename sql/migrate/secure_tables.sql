-- Denies by default: called at the end of each scope of every migration, it enables row-level security on each table of
-- the owner role that lacks it. A table without a policy then returns rows to the system only.
--
-- It also revokes privileges that no request needs. TRUNCATE ignores policies; REFERENCES reveals rows; TRIGGER runs
-- code. A careless `grant all` includes them.

create or replace function svc_private.secure_tables()
returns setof regclass  -- the tables that had to be secured
language plpgsql
volatile
set search_path = ''
as $$
declare
  found record;
  system_bypasses constant boolean := (select r.rolbypassrls from pg_catalog.pg_roles r where r.rolname = 'svc_system');
begin
  for found in
    select c.oid::regclass as name, c.relrowsecurity as secured
      from pg_catalog.pg_class c
     where c.relkind in ('r', 'p') and c.relowner = 'svc_owner'::regrole
     order by 1
  loop
    if not found.secured then
      execute format('alter table %s enable row level security', found.name);
      return next found.name;
    end if;

    if has_table_privilege('svc_anonymous', found.name, 'truncate, references, trigger')
      or has_table_privilege('svc_authenticated', found.name, 'truncate, references, trigger') then
      execute format('revoke truncate, references, trigger on %s from svc_anonymous, svc_authenticated', found.name);
    end if;

    -- Hosts that reserve BYPASSRLS: the system role is admitted by a policy instead.
    if not system_bypasses and not exists (
      select from pg_catalog.pg_policy p where p.polrelid = found.name and p.polname = 'all_system'
    ) then
      execute format('create policy all_system on %s for all to svc_system using (true) with check (true)', found.name);
    end if;
  end loop;
end
$$;

comment on function svc_private.secure_tables() is
  'Enables row-level security on every table of the owner role that lacks it, and returns these tables.';
