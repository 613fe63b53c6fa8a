-- The table has policies, but row-level security is off: PostgreSQL does not apply them.

create or replace view svc_private.lint_policy_without_rls as
select distinct on (p.relid) 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, p.relid as object, 0 as part,
       p.relation_name as name, 'has policies, and row-level security is off: they do nothing' as problem,
       format('alter table %s enable row level security;', p.relation_name) as remedy
  from svc_private.policy_rules p
 where not p.has_rls;

comment on view svc_private.lint_policy_without_rls is 'Tables whose policies are not in effect.';
