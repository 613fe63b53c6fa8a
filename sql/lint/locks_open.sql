-- PostgreSQL's advisory locks take any key, including the keys by which uploads, workers and migrations wait for each
-- other. sql/grants.sql closes them where the host allows it. Applications use svc.lock().

create or replace view svc_private.lint_locks_open as
select 'warning' as severity, 'pg_catalog.pg_proc'::regclass as catalog, p.oid as object, 0 as part, p.oid::regprocedure::text as name,
       format('may be executed by %s inside a request', role.name) as problem,
       format('revoke execute on function %s from public, svc_anonymous, svc_authenticated; as a superuser. See SECURITY.md if the host refuses.',
              p.oid::regprocedure) as remedy
  from pg_catalog.pg_proc p
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 where p.pronamespace = 'pg_catalog'::regnamespace
   and p.proname ~ '^pg_(try_)?advisory_(xact_)?lock(_shared)?$'
   and has_function_privilege(role.name, p.oid, 'execute');

comment on view svc_private.lint_locks_open is
  'PostgreSQL functions with which a request could take the platform''s locks.';
