-- Jobs hold the arguments of everybody's calls and run with the platform's rights. Requests must reach them only
-- through functions.

create or replace view svc_private.lint_queue_exposed as
select 'error' as severity, 'pg_catalog.pg_namespace'::regclass as catalog, n.oid as object, 0 as part, n.nspname::text as name,
       format('%s may use a schema of the platform''s internals', role.name) as problem,
       format('revoke all on schema %I from public, %s;', n.nspname, role.name) as remedy
  from pg_catalog.pg_namespace n
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 where n.nspname in ('svc_private', 'graphile_worker', 'auth') and has_schema_privilege(role.name, n.oid, 'usage, create');

comment on view svc_private.lint_queue_exposed is 'Internal schemas, including the queue''s, that requests may use.';
