-- A volatile function in a policy is called for every row and prevents the use of every index.

create or replace view svc_private.lint_volatile_policy_function as
select distinct 'warning' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       format('calls %s for every row, because it is volatile', f.oid::regprocedure) as problem,
       format('alter function %s stable; if it changes nothing. Wrap the call in a sub-select.', f.oid::regprocedure) as remedy
  from svc_private.policy_rules p
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = p.oid
   and d.refclassid = 'pg_catalog.pg_proc'::regclass
  join pg_catalog.pg_proc f on f.oid = d.refobjid and f.provolatile = 'v';

comment on view svc_private.lint_volatile_policy_function is 'Policies that call volatile functions.';
