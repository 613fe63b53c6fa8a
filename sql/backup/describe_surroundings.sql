-- The objects that a dump of this database leaves out or only refers to: roles, privileges on the database and its
-- settings, and the positions of sequences. Called by src/backup/take.ts, as the administrator;
-- src/backup/cluster-state.ts restores them.
--
-- Roles are those that own or are granted something here, and svc's own. Passwords are never included.

create or replace function svc_private.describe_surroundings()
returns jsonb
language sql
stable
set search_path = ''
as $$
  with here as (
    select d.oid, d.datdba, d.datacl from pg_catalog.pg_database d where d.datname = current_database()
  ), involved as (
    select r.* from pg_catalog.pg_roles r
     where r.rolname !~ '^pg_' and (r.rolname like 'svc\_%'
        or r.oid in (select s.refobjid from pg_catalog.pg_shdepend s, here
                      where s.dbid = here.oid and s.refclassid = 'pg_catalog.pg_authid'::regclass)
        or r.oid in (select n.nspowner from pg_catalog.pg_namespace n
                      where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'))
  )
  select jsonb_build_object(
    'roles', (select jsonb_agg(jsonb_build_object(
        'name', r.rolname, 'login', r.rolcanlogin, 'inherit', r.rolinherit, 'bypassrls', r.rolbypassrls,
        'replication', r.rolreplication,
        'memberOf', (select coalesce(jsonb_agg(g.rolname order by g.rolname), '[]')
                       from pg_catalog.pg_auth_members m join involved g on g.oid = m.roleid where m.member = r.oid)
      ) order by r.rolname) from involved r),
    'privileges', (select coalesce(jsonb_agg(jsonb_build_object('to', coalesce(g.rolname, 'public'), 'privilege', a.privilege_type)
                     order by g.rolname, a.privilege_type), '[]')
                     from here, pg_catalog.aclexplode(coalesce(here.datacl, pg_catalog.acldefault('d', here.datdba))) a
                     left join pg_catalog.pg_roles g on g.oid = a.grantee
                    where a.grantee <> here.datdba),
    'settings', (select coalesce(jsonb_agg(jsonb_build_object('role', r.rolname, 'setting', s.setting) order by r.rolname, s.setting), '[]')
                   from here
                   join pg_catalog.pg_db_role_setting d on d.setdatabase = here.oid
                  cross join lateral unnest(d.setconfig) as s (setting)
                   left join pg_catalog.pg_roles r on r.oid = d.setrole),
    'sequences', (select coalesce(jsonb_agg(jsonb_build_object(
                     'name', format('%I.%I', q.schemaname, q.sequencename), 'last', q.last_value, 'step', q.increment_by)
                     order by q.schemaname, q.sequencename), '[]')
                    from pg_catalog.pg_sequences q)
  )
$$;

comment on function svc_private.describe_surroundings() is
  'Roles, privileges on the database, its settings and its sequences: a dump leaves them out, or they must not fall '
  'behind.';
