-- A function that looks names up along its caller's search_path may find other objects for another caller. Functions
-- whose body PostgreSQL has parsed already (BEGIN ATOMIC) are bound to their objects and need no search_path.

create or replace view svc_private.lint_function_without_search_path as
select 'warning' as severity, 'pg_catalog.pg_proc'::regclass as catalog, p.oid as object, 0 as part, p.oid::regprocedure::text as name,
       'takes names from its caller''s search_path' as problem,
       format('alter routine %s set search_path = ''''; and write names with their schemas.', p.oid::regprocedure) as remedy
  from pg_catalog.pg_proc p
  join pg_catalog.pg_namespace n on n.oid = p.pronamespace
  join pg_catalog.pg_language l on l.oid = p.prolang and l.lanname in ('sql', 'plpgsql')
 where not p.prosecdef and p.prosqlbody is null
   and n.nspname not in ('graphile_worker', 'information_schema') and n.nspname not like 'pg\_%'
   and not coalesce(p.proconfig::text ~ 'search_path=', false)
   and not exists (select from pg_catalog.pg_depend d
                    where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e');

comment on view svc_private.lint_function_without_search_path is 'Functions in SQL or PL/pgSQL without a search_path of their own.';
