-- A SECURITY DEFINER function runs with the rights of its owner. Callers without an account may execute this one.

create or replace view svc_private.lint_definer_function_exposed_to_anyone as
select 'warning' as severity, 'pg_catalog.pg_proc'::regclass as catalog, p.oid as object, 0 as part, p.oid::regprocedure::text as name,
       'runs with its owner''s rights for callers without an account' as problem,
       format('revoke execute on routine %s from public, svc_anonymous; or make it SECURITY INVOKER.', p.oid::regprocedure)
         as remedy
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
 where p.prosecdef and n.nspname not in ('svc', 'svc_hidden', 'svc_private', 'svc_crud', 'auth', 'graphile_worker', 'information_schema')
   and n.nspname not like 'pg\_%' and p.prorettype <> 'pg_catalog.trigger'::regtype
   and has_schema_privilege('svc_anonymous', n.oid, 'usage') and has_function_privilege('svc_anonymous', p.oid, 'execute')
   and not exists (select from pg_catalog.pg_depend d
                    where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e');

comment on view svc_private.lint_definer_function_exposed_to_anyone is
  'The application''s SECURITY DEFINER functions that callers without an account may execute.';
