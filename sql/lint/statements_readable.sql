-- pg_stat_statements shows everybody's statements, with constants that no parameter replaced. The extension grants its
-- views to PUBLIC. sql/grants.sql revokes them when svc migrate runs as a superuser after the extension was created.

create or replace view svc_private.lint_statements_readable as
select 'warning' as severity, 'pg_catalog.pg_class'::regclass as catalog, c.oid as object, 0 as part, c.oid::regclass::text as name,
       format('may be read by %s inside a request', role.name) as problem,
       format('svc migrate --again as a superuser, or: revoke select on %s from public;', c.oid::regclass) as remedy
  from pg_catalog.pg_extension e
  join pg_catalog.pg_depend d
    on d.refclassid = 'pg_catalog.pg_extension'::regclass and d.refobjid = e.oid and d.deptype = 'e'
   and d.classid = 'pg_catalog.pg_class'::regclass
  join pg_catalog.pg_class c on c.oid = d.objid and c.relkind in ('v', 'm', 'r')
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 where e.extname in ('pg_stat_statements', 'pg_stat_kcache', 'pg_stat_monitor')
   and has_schema_privilege(role.name, c.relnamespace, 'usage') and has_table_privilege(role.name, c.oid, 'select');

comment on view svc_private.lint_statements_readable is 'Statement statistics that SQL in a request may read.';
