-- A field that users may edit in their own account, or a table of the authentication, must not decide what a user may
-- see: a user who changes the field changes the policy's answer. Requests may not read those tables at all.

create or replace view svc_private.lint_user_field_in_policy as
select distinct 'error' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       format('decides by %s, which users can change in part', t.name) as problem,
       'Keep roles and memberships in a table of your own that users cannot write, and query that.' as remedy
  from svc_private.policy_rules p
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = p.oid
   and d.refclassid = 'pg_catalog.pg_class'::regclass and d.refobjid <> p.relid
  join svc_private.relations t on t.oid = d.refobjid and t.schema = 'auth';

comment on view svc_private.lint_user_field_in_policy is 'Policies that read authentication tables.';
