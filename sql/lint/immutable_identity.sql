-- PostgreSQL computes an immutable function once, when it makes a plan, and keeps the plan for other callers of the same role. A
-- policy with such a function shows a user the rows of another one.

-- A name before a parenthesis counts as a call, as in svc_private.request_functions.

create or replace view svc_private.lint_immutable_identity as
with recursive functions as materialized (
  select p.oid, lower(p.proname) as name, p.provolatile, source.code,
         array(select lower(call[1]) from regexp_matches(source.code, '([[:alnum:]_]+)"?\s*\(', 'g') as call) as calls
    from pg_catalog.pg_proc p
    join pg_catalog.pg_namespace n on n.oid = p.pronamespace
    join pg_catalog.pg_language l on l.oid = p.prolang and l.lanname in ('sql', 'plpgsql')
   cross join lateral (select svc_private.code_text(coalesce(pg_get_function_sqlbody(p.oid), p.prosrc)) as code offset 0) as source
   where n.nspname not in ('svc', 'svc_hidden', 'svc_private', 'svc_crud', 'auth', 'graphile_worker', 'information_schema')
     and n.nspname not like 'pg\_%'
     and not exists (select from pg_catalog.pg_depend d
                      where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
), asking as (
  select f.oid, f.name
    from functions f
   where f.code ~* '\m(current_setting|current_user|session_user|current_role|current_user_id|current_actor|has_scope|my_orgs|owns_object)\M'
  union
  select f.oid, f.name from asking a join functions f on a.name = any (f.calls)
)
select 'error' as severity, 'pg_catalog.pg_proc'::regclass as catalog, f.oid as object, 0 as part, f.oid::regprocedure::text as name,
       'is immutable, but its result depends on the caller' as problem,
       format('alter function %s stable; Its result for one caller is kept, and used for others.', f.oid::regprocedure) as remedy
  from functions f
 where f.provolatile = 'i' and f.oid in (select a.oid from asking a);

comment on view svc_private.lint_immutable_identity is 'Immutable functions that ask who the caller is.';
