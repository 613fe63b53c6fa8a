-- set_config() changes the identity that every policy trusts; pg_logical_emit_message() and pg_notify() forge messages
-- between processes. sql/grants.sql closes them where the host allows it.

create or replace view svc_private.lint_impersonation_open as
select 'error' as severity, 'pg_catalog.pg_proc'::regclass as catalog, p.oid as object, 0 as part, p.oid::regprocedure::text as name,
       format('may be executed by %s inside a request', role.name) as problem,
       format('revoke execute on function %s from public, svc_anonymous, svc_authenticated; as a superuser. See SECURITY.md if the host refuses.',
              p.oid::regprocedure) as remedy
  from pg_catalog.pg_proc p
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 where p.pronamespace = 'pg_catalog'::regnamespace and p.proname in ('set_config', 'pg_logical_emit_message', 'pg_notify')
   and has_function_privilege(role.name, p.oid, 'execute');

comment on view svc_private.lint_impersonation_open is
  'PostgreSQL functions with which SQL in a request could change its identity.';
