-- A policy without TO applies to PUBLIC: every role, including roles that are created later.

create or replace view svc_private.lint_everybody_policy as
select 'warning' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       'names no role, and so applies to every role, also to future ones' as problem,
       'Add "to svc_authenticated" or "to svc_anonymous, svc_authenticated".' as remedy
  from svc_private.policy_rules p
 where p.for_everybody and p.permissive;

comment on view svc_private.lint_everybody_policy is 'Policies for PUBLIC.';
