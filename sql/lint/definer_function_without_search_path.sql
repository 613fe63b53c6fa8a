-- A SECURITY DEFINER function looks names up along its caller's search_path. A caller who creates a table or an
-- operator of the same name in an earlier schema makes the owner run it. Source: CREATE FUNCTION, "Writing SECURITY
-- DEFINER Functions Safely".

create or replace view svc_private.lint_definer_function_without_search_path as
select 'error' as severity, 'pg_catalog.pg_proc'::regclass as catalog, p.oid as object, 0 as part, p.oid::regprocedure::text as name,
       'is SECURITY DEFINER and takes names from its caller''s search_path' as problem,
       format('alter routine %s set search_path = ''''; and write names with their schemas.', p.oid::regprocedure) as remedy
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
 where p.prosecdef and n.nspname not in ('graphile_worker', 'information_schema') and n.nspname not like 'pg\_%'
   and not coalesce(p.proconfig::text ~ 'search_path=', false)
   and not exists (select from pg_catalog.pg_depend d
                    where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e');

comment on view svc_private.lint_definer_function_without_search_path is 'SECURITY DEFINER functions without a search_path of their own.';
