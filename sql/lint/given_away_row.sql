-- USING says which rows may be changed, WITH CHECK what they may become. A check that is always true lets a user assign
-- a row to another user, or remove its owner.

create or replace view svc_private.lint_given_away_row as
select 'error' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       'restricts which rows may be changed, but not their new values' as problem,
       'Leave WITH CHECK out, so that USING holds for the new row too, or repeat the condition.' as remedy
  from svc_private.policy_rules p
 where p.permissive and p.command in ('update', 'all') and p.check_text = 'true' and p.using_text <> 'true'
   and (p.for_everybody or p.roles && '{svc_anonymous,svc_authenticated}');

comment on view svc_private.lint_given_away_row is
  'Update policies with a condition on the old row and none on the new row.';
