-- A policy for writing whose condition is always true lets every user change all rows.

create or replace view svc_private.lint_always_true_policy as
select 'warning' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       format('lets %s %s any row', array_to_string(p.roles || case when p.for_everybody then '{PUBLIC}'::text[] end, ', '),
              case p.command when 'all' then 'read and write' else p.command end) as problem,
       'Compare the owner''s column with (select svc.current_user_id()), or state in the policy''s comment that it is intended.'
         as remedy
  from svc_private.policy_rules p
 where p.permissive and p.command <> 'select'
   and 'true' in (p.using_text, p.check_text)
   and (p.for_everybody or p.roles && '{svc_anonymous,svc_authenticated}')
   -- A restrictive policy that looks at the row decides instead.
   and not exists (
     select from svc_private.policy_rules c
      where c.relid = p.relid and not c.permissive and c.command in ('all', p.command) and c.names_columns
        and (p.command = 'insert' or c.check_text is null) and (c.for_everybody or not p.for_everybody and p.roles <@ c.roles));

comment on view svc_private.lint_always_true_policy is 'Write policies of the request roles whose condition is "true".';
