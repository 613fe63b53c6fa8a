-- A policy reads a table that one of its roles may not select from. PostgreSQL refuses every statement of this role to which
-- the policy applies, also for rows that another condition of it admits, and a caller without an account gets 401. The usual
-- case is a policy for everybody that asks who is staff. Tables of the authentication are a matter of user_field_in_policy.

-- The expressions are read as PostgreSQL keeps them, where each relation of a sub-select stands by its number.

create or replace view svc_private.lint_unreadable_table_in_policy as
select 'error' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       format('reads %s, from which %s may not select, so every statement of this role is refused',
         string_agg(distinct s.name, ', ' order by s.name), role.name) as problem,
       format('Let this policy name the other roles, and write one for %s that does not read %s.',
         role.name, string_agg(distinct s.name, ', ' order by s.name)) as remedy
  from svc_private.policy_rules p
  join pg_catalog.pg_policy e on e.oid = p.oid
 cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
 cross join lateral regexp_matches(concat(e.polqual::text, e.polwithcheck::text), ':relid (\d+)', 'g') as found (number)
  join svc_private.relations s on s.oid = found.number[1]::oid and s.schema <> 'auth'
 where p.has_rls and (p.for_everybody or role.name = any (p.roles))
   and not has_any_column_privilege(role.name, s.oid, 'select')
   and exists (
     select from unnest('{select,insert,update,delete}'::text[]) as verb (name)
      where p.command in ('all', verb.name)
        and case verb.name when 'delete' then has_table_privilege(role.name, p.relid, 'delete')
                           else has_any_column_privilege(role.name, p.relid, verb.name) end)
 group by p.oid, p.name, role.name;

comment on view svc_private.lint_unreadable_table_in_policy is
  'Policies that read a table from which a role of theirs may not select, which PostgreSQL refuses.';
