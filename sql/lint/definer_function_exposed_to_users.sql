-- As definer_function_exposed_to_anyone, for every signed-in user: only the conditions in the function restrict them.

create or replace view svc_private.lint_definer_function_exposed_to_users as
select 'info' as severity, 'pg_catalog.pg_proc'::regclass as catalog, p.oid as object, 0 as part, p.oid::regprocedure::text as name,
       'runs with its owner''s rights for every signed-in user' as problem,
       'Make it SECURITY INVOKER if the policies allow it; otherwise check that it calls svc.current_user_id() itself.' as remedy
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
 where p.prosecdef and n.nspname not in ('svc', 'svc_hidden', 'svc_private', 'svc_crud', 'auth', 'graphile_worker', 'information_schema')
   and n.nspname not like 'pg\_%' and p.prorettype <> 'pg_catalog.trigger'::regtype
   and has_schema_privilege('svc_authenticated', n.oid, 'usage')
   and has_function_privilege('svc_authenticated', p.oid, 'execute')
   and not has_function_privilege('svc_anonymous', p.oid, 'execute')
   and not exists (select from pg_catalog.pg_depend d
                    where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e');

comment on view svc_private.lint_definer_function_exposed_to_users is
  'The application''s SECURITY DEFINER functions that every signed-in user may execute.';
