-- Callers without an account may write here. This is often intended (a form, a guest book), but must be a decision.

create or replace view svc_private.lint_anonymous_write as
select 'info' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       format('lets callers without an account %s', case p.command when 'all' then 'write' else p.command end) as problem,
       'Grant it to svc_authenticated only, or state in the policy''s comment that it is intended.' as remedy
  from svc_private.policy_rules p
 where p.permissive and not p.is_platform and p.command <> 'select' and (p.for_everybody or 'svc_anonymous' = any (p.roles))
   and exists (
     select from unnest(array['insert', 'update', 'delete']) as privilege
      where p.command in ('all', privilege) and has_any_column_privilege('svc_anonymous', p.relid,
              case privilege when 'delete' then 'select' else privilege end)
        and (privilege <> 'delete' or has_table_privilege('svc_anonymous', p.relid, 'delete')));

comment on view svc_private.lint_anonymous_write is 'Policies that let callers without an account write.';
