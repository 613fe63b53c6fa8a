-- PostgreSQL joins permissive policies by OR and evaluates each. Two for the same role and command are harder to read
-- and slower than one: the planner rarely finds an index for an OR.

create or replace view svc_private.lint_multiple_permissive_policies as
select 'info' as severity, 'pg_catalog.pg_class'::regclass as catalog, p.relid as object, 0 as part, p.relation_name as name,
       format('has %s policies by which %s may %s: %s', count(*), role.name, asked.command, string_agg(p.policy, ', ' order by p.policy))
         as problem,
       'Combine them into one policy with OR, if that is as clear.' as remedy
  from svc_private.policy_rules p
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 cross join unnest('{select,insert,update,delete}'::text[]) as asked (command)
 where p.permissive and not p.is_platform and p.command in ('all', asked.command)
   and (p.for_everybody or role.name = any (p.roles))
 group by p.relid, p.relation_name, role.name, asked.command
having count(*) > 1;

comment on view svc_private.lint_multiple_permissive_policies is 'Several permissive policies for the same role and command.';
