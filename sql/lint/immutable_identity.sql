-- PostgreSQL computes an immutable function once, when it makes a plan, and keeps the plan for other callers of the same role. A
-- policy with such a function shows a user the rows of another one.

create or replace view svc_private.lint_immutable_identity as
with functions as materialized (
  select p.oid, p.proname, p.provolatile, svc_private.code_text(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)) as code
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_language l on l.oid = p.prolang and l.lanname in ('sql', 'plpgsql')
   where n.nspname not in ('svc', 'svc_hidden', 'svc_private', 'svc_crud', 'auth', 'graphile_worker', 'information_schema')
     and n.nspname not like 'pg\_%'
     and not exists (select from pg_catalog.pg_depend d
                      where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
), asking as materialized (
  select f.oid, f.proname, f.provolatile
    from functions f
   where f.code ~* '\m(current_setting|current_user|session_user|current_role|current_user_id|current_actor|has_scope|my_orgs)\M'
)
select 'error' as severity, 'pg_catalog.pg_proc'::regclass as catalog, f.oid as object, 0 as part, f.oid::regprocedure::text as name,
       'is immutable, but its result depends on the caller' as problem,
       format('alter function %s stable; Its result for one caller is kept, and used for others.', f.oid::regprocedure) as remedy
  from functions f
 where f.provolatile = 'i'
   and (f.oid in (select a.oid from asking a)
        or exists (select from asking a where f.code ~* ('\m' || a.proname || '\s*\(') and a.proname ~ '^\w+$'));

comment on view svc_private.lint_immutable_identity is 'Immutable functions that ask who the caller is.';
