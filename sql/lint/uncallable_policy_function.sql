-- A policy calls a function that one of its roles may not execute. PostgreSQL refuses every statement of this role to which the
-- policy applies, and a caller without an account gets 401. svc takes from everybody the right to execute new functions, so a
-- function that comes from another database lacks its grant.

create or replace view svc_private.lint_uncallable_policy_function as
select distinct 'error' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       format('calls %s, which %s may not execute, so every statement of this role is refused', f.oid::regprocedure, role.name) as problem,
       format('grant execute on function %s to %s; beside the function, or let the policy name the other roles.',
         f.oid::regprocedure, role.name) as remedy
  from svc_private.policy_rules p
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = p.oid
   and d.refclassid = 'pg_catalog.pg_proc'::regclass
  join pg_catalog.pg_proc f on f.oid = d.refobjid
 where p.has_rls and (p.for_everybody or role.name = any (p.roles))
   and not has_function_privilege(role.name, f.oid, 'execute')
   and exists (
     select from unnest('{select,insert,update,delete}'::text[]) as verb (name)
      where p.command in ('all', verb.name)
        and case verb.name when 'delete' then has_table_privilege(role.name, p.relid, 'delete')
                           else has_any_column_privilege(role.name, p.relid, verb.name) end);

comment on view svc_private.lint_uncallable_policy_function is
  'Policies that call a function that a role of theirs may not execute, which PostgreSQL refuses.';
