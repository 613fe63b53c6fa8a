-- The tables of the authentication hold everybody's addresses, sessions and keys. A request never needs them: see
-- sql/policies/auth.user.sql.

create or replace view svc_private.lint_auth_table_exposed as
select 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       format('%s may access an authentication table', role.name) as problem,
       format('revoke all on %s from %s; keep data about users that others may see in a table of your own.', r.name, role.name)
         as remedy
  from svc_private.relations r
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 where r.schema = 'auth' and has_any_column_privilege(role.name, r.oid, 'select, insert, update')
 union all
-- A view runs as its owner unless it says otherwise: through it the table is open although no grant is.
select 'error', 'pg_catalog.pg_class'::regclass, r.oid, 0, r.name,
       format('shows rows of %s to roles that may read the view', b.name collate "C"),  -- that of the column in earlier versions
       format('revoke all on %s from public, svc_anonymous, svc_authenticated; select from a table of your own.', r.name)
  from svc_private.relations r
 cross join lateral svc_private.tables_beneath(r.oid) b
 where r.kind in ('v', 'm') and r.schema <> 'auth' and b.name like 'auth.%' and not b.as_caller
   and (has_any_column_privilege('svc_anonymous', r.oid, 'select') or has_any_column_privilege('svc_authenticated', r.oid, 'select'));

comment on view svc_private.lint_auth_table_exposed is
  'Authentication tables that a request can read, directly or through a view.';
