-- Facts about the database as a whole: its grants, schemas, default privileges, extensions, publications, event
-- triggers, and which of PostgreSQL's own functions and views have other than the default privileges. Called by
-- list_facts().
--
-- The collation of lower() is C, because the empty database it is compared with may have another locale: a Turkish one
-- makes ınsert of INSERT.

create or replace function svc_private.database_facts()
returns table (object text, kind text, part text, definition text, place integer)
language sql
stable
set search_path = ''
as $$
  -- The database's name and owner are the host's business.
  select 'database', 'grant', svc_private.role_name(a.grantee),
         string_agg(lower(a.privilege_type collate "C"), ', ' order by a.privilege_type), 0
    from pg_catalog.pg_database d
   cross join pg_catalog.aclexplode(coalesce(d.datacl, pg_catalog.acldefault('d', d.datdba))) a
   where d.datname = current_database() and a.grantee <> d.datdba and svc_private.role_name(a.grantee) ~ '^(svc_|public$)'
   group by a.grantee
  union all
  select 'schema ' || quote_ident(n.nspname), 'itself', '', 'owner ' || case
           when svc_private.role_name(n.nspowner) ~ '^(svc|pg)_' then svc_private.role_name(n.nspowner)
           else 'administrator' end, 0
    from pg_catalog.pg_namespace n where svc_private.is_described(n.oid)
  union all
  select 'schema ' || quote_ident(n.nspname), 'grant', svc_private.role_name(a.grantee),
         string_agg(lower(a.privilege_type collate "C"), ', ' order by a.privilege_type), 0
    from pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a
   where svc_private.is_described(n.oid) and a.grantee not in (n.nspowner, 'svc_owner'::regrole)
   group by n.nspname, a.grantee
  union all
  select format('default privileges of %s%s', svc_private.role_name(d.defaclrole), ' in ' || n.nspname), 'grant',
         concat(svc_private.role_name(a.grantee), ' on ',
           case d.defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions'
             when 'T' then 'types' when 'n' then 'schemas' else d.defaclobjtype::text end),
         string_agg(lower(a.privilege_type collate "C"), ', ' order by a.privilege_type), 0
    from pg_catalog.pg_default_acl d
    left join pg_catalog.pg_namespace n on n.oid = d.defaclnamespace
   cross join pg_catalog.aclexplode(d.defaclacl) a
   where a.grantee <> d.defaclrole
   group by d.defaclrole, n.nspname, d.defaclobjtype, a.grantee
  union all
  -- An administrator creates pg_stat_statements by hand, where the server has it (docs/how-to/observe.md).
  select 'extension ' || quote_ident(e.extname), 'itself', '', 'in schema ' || n.nspname, 0
    from pg_catalog.pg_extension e join pg_catalog.pg_namespace n on n.oid = e.extnamespace
   where e.extname <> 'pg_stat_statements'
  union all
  select 'extension ' || quote_ident(e.extname), 'version', '', e.extversion, 0
    from pg_catalog.pg_extension e where e.extname <> 'pg_stat_statements'
  union all
  select 'publication ' || quote_ident(p.pubname), 'itself', '',
         concat('publishes', case when p.pubinsert then ' insert' end, case when p.pubupdate then ' update' end,
           case when p.pubdelete then ' delete' end, case when p.pubtruncate then ' truncate' end,
           case when p.puballtables then ' of all tables' end,
           case to_jsonb(p) ->> 'pubgencols' when 's' then ' with generated columns' end), 0
    from pg_catalog.pg_publication p
  union all
  select 'publication ' || quote_ident(t.pubname), 'table', format('%I.%I', t.schemaname, t.tablename), '', 0
    from pg_catalog.pg_publication_tables t
  union all
  select 'event trigger ' || quote_ident(t.evtname), 'itself', '',
         format('on %s execute %s%s', t.evtevent, t.evtfoid::regprocedure, case t.evtenabled when 'D' then ' disabled' end), 0
    from pg_catalog.pg_event_trigger t
   where not exists (select from pg_catalog.pg_depend d
                      where d.classid = 'pg_catalog.pg_event_trigger'::regclass and d.objid = t.oid and d.deptype = 'e')
  union all
  select 'PostgreSQL''s own ' || p.oid::regprocedure, 'callers', '',
         coalesce(string_agg(svc_private.role_name(a.grantee), ', ' order by svc_private.role_name(a.grantee))
           filter (where a.grantee <> p.proowner), 'nobody'), 0
    from pg_catalog.pg_proc p
    left join pg_catalog.pg_init_privs i
      on i.classoid = 'pg_catalog.pg_proc'::regclass and i.objoid = p.oid and i.objsubid = 0
    left join lateral pg_catalog.aclexplode(p.proacl) a on true
   where p.pronamespace = 'pg_catalog'::regnamespace and p.proacl is not null and p.proacl is distinct from i.initprivs
   group by p.oid, p.proowner
  union all
  select 'PostgreSQL''s own ' || c.oid::regclass, 'readers', '',
         coalesce(string_agg(format('%s (%s)', svc_private.role_name(a.grantee), lower(a.privilege_type collate "C")), ', '
           order by svc_private.role_name(a.grantee), a.privilege_type) filter (where a.grantee <> c.relowner), 'nobody'), 0
    from pg_catalog.pg_class c
    left join pg_catalog.pg_init_privs i
      on i.classoid = 'pg_catalog.pg_class'::regclass and i.objoid = c.oid and i.objsubid = 0
    left join lateral pg_catalog.aclexplode(c.relacl) a on true
   where c.relnamespace = 'pg_catalog'::regnamespace and c.relacl is not null and c.relacl is distinct from i.initprivs
   group by c.oid, c.relowner
$$;

comment on function svc_private.database_facts() is
  'Schemas, default privileges, extensions, publications, event triggers and revoked functions, for list_facts().';
