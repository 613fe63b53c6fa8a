-- Callers without an account read all rows. This is often intended (a board, a catalogue), but must be a decision.

create or replace view svc_private.lint_world_readable_table as
select 'info' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       'shows every row to callers without an account' as problem,
       'Write a policy for svc_authenticated only, or state in the policy''s comment that it is intended.' as remedy
  from svc_private.policy_rules p
  join svc_private.relations r on r.oid = p.relid
 where p.permissive and not p.is_platform and p.command in ('all', 'select') and p.using_text = 'true'
   and (p.for_everybody or 'svc_anonymous' = any (p.roles))
   and r.anonymous_reaches and has_any_column_privilege('svc_anonymous', p.relid, 'select')
   and not exists (
     select from svc_private.policy_rules c
      where c.relid = p.relid and not c.permissive and c.command in ('all', 'select')
        and (c.for_everybody or 'svc_anonymous' = any (c.roles)));

comment on view svc_private.lint_world_readable_table is 'Tables that callers without an account can read completely.';
