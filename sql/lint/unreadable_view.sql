-- A role may read a view with security_invoker, but not a table beneath it: PostgreSQL refuses every query of the view. A
-- migration that creates a view grants it to both request roles.

create or replace view svc_private.lint_unreadable_view as
select 'info' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       format('%s may select from it, but not from %s beneath it, so every query is refused',
         role.name, string_agg(b.name, ', ' order by b.name)) as problem,
       format('revoke select on %s from %s; or grant select on what lies beneath, and write policies.', r.name, role.name)
         as remedy
  from svc_private.relations r
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 cross join lateral svc_private.tables_beneath(r.oid) b
  -- Not by regclass: that refuses the name of a table in a schema which this login may not use.
  join pg_catalog.pg_class t on t.relkind in ('r', 'p', 'f')
  join pg_catalog.pg_namespace n on n.oid = t.relnamespace and format('%I.%I', n.nspname, t.relname) = b.name
 where r.kind = 'v' and b.as_caller
   and case role.name when 'svc_anonymous' then r.anonymous_reaches else r.users_reach end
   and has_any_column_privilege(role.name, r.oid, 'select')
   and not has_any_column_privilege(role.name, t.oid, 'select')
 group by r.oid, r.name, role.name;

comment on view svc_private.lint_unreadable_view is
  'Views that a request role may select from, without the right to select from the tables beneath.';
