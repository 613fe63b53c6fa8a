-- A policy calls a function that one of its roles may not execute. PostgreSQL refuses every statement of this role to which the
-- policy applies, and a caller without an account gets 401. svc takes from everybody the right to execute new functions, so a
-- function that comes from another database lacks its grant.

create or replace view svc_private.lint_uncallable_policy_function as
select distinct 'error' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       format('calls %s, which %s may not execute, so every statement of this role is refused', f.oid::regprocedure, r.role) as problem,
       format('grant execute on function %s to %s; beside the function, or let the policy name the other roles.',
         f.oid::regprocedure, r.role) as remedy
  from svc_private.policy_rules p
  join svc_private.policy_roles r on r.oid = p.oid
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = p.oid
   and d.refclassid = 'pg_catalog.pg_proc'::regclass
  join pg_catalog.pg_proc f on f.oid = d.refobjid
 where not has_function_privilege(r.role, f.oid, 'execute');

comment on view svc_private.lint_uncallable_policy_function is
  'Policies that call a function that a role of theirs may not execute, which PostgreSQL refuses.';
