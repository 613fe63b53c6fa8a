-- A policy reads a table that one of its roles may not select from. PostgreSQL refuses every statement of this role to which
-- the policy applies, also for rows that another condition of it admits, and a caller without an account gets 401. The usual
-- case is a policy for everybody that asks who is staff. Tables of the authentication are a matter of user_field_in_policy.

-- The expressions are read as PostgreSQL keeps them, where each relation of a sub-select stands by its number.

create or replace view svc_private.lint_unreadable_table_in_policy as
select 'error' as severity, 'pg_catalog.pg_policy'::regclass as catalog, p.oid as object, 0 as part, p.name,
       format('reads %s, from which %s may not select, so every statement of this role is refused',
         string_agg(distinct s.name, ', ' order by s.name), r.role) as problem,
       format('Let this policy name the other roles, and write one for %s that does not read %s.',
         r.role, string_agg(distinct s.name, ', ' order by s.name)) as remedy
  from svc_private.policy_rules p
  join pg_catalog.pg_policy e on e.oid = p.oid
  join svc_private.policy_roles r on r.oid = p.oid
 cross join lateral regexp_matches(concat(e.polqual::text, e.polwithcheck::text), ':relid (\d+)', 'g') as found (number)
  join svc_private.relations s on s.oid = found.number[1]::oid and s.schema <> 'auth'
 where not has_any_column_privilege(r.role, s.oid, 'select')
 group by p.oid, p.name, r.role;

comment on view svc_private.lint_unreadable_table_in_policy is
  'Policies that read a table from which a role of theirs may not select, which PostgreSQL refuses.';
