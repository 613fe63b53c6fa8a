-- PostgreSQL uses no index for `column in (select …)` in a policy: it makes a list of the sub-select and compares every
-- row with it. It looks an array up in an index on the column. This does not apply to a sub-select that depends on the
-- row itself.

create or replace view svc_private.lint_sub_select_in_policy as
select 'info' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       'compares every row with a sub-select, without an index' as problem,
       'Write column = any (array(select …)), with an index on the column.' as remedy
  from svc_private.policy_rules p
 where p.using_text ~ '\mIN \( SELECT';

comment on view svc_private.lint_sub_select_in_policy is
  'Policies that compare with IN (SELECT …), which cannot use an index.';
