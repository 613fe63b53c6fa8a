-- Materialized views have no row-level security: a role that may read one reads all of its rows.

create or replace view svc_private.lint_materialized_view_exposed as
select 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       'is a materialized view that requests may read, and has no policies' as problem,
       format('revoke all on %s from public, svc_anonymous, svc_authenticated; read it through a function or a view over it.', r.name)
         as remedy
  from svc_private.relations r
 where r.kind = 'm'
   and (r.anonymous_reaches and has_any_column_privilege('svc_anonymous', r.oid, 'select')
        or r.users_reach and has_any_column_privilege('svc_authenticated', r.oid, 'select'));

comment on view svc_private.lint_materialized_view_exposed is 'Materialized views that requests may read.';
