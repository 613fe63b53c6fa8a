-- A policy's condition leads back to its own table, directly or through the policies of the tables that it reads.
-- PostgreSQL refuses every statement to which the policy applies, with "infinite recursion detected in policy". The
-- usual case is members who see the other members of their team. A function with the rights of its owner reads past the
-- policies and breaks the circle. For the check of a write any function breaks it, and the policies for reading apply there.

-- The expressions are read as PostgreSQL keeps them, where each relation of a sub-select stands by its number.

create or replace view svc_private.lint_recursive_policy as
with recursive asked as (
  select p.oid as policy, p.name, p.relid, role.name as role, s.oid as asks, s.name as first_asked,
         p.command in ('select', 'all') as is_asked_in_turn
    from svc_private.policy_rules p
    join pg_catalog.pg_policy e on e.oid = p.oid
   cross join unnest('{svc_anonymous,svc_authenticated}'::text[]) as role (name)
   cross join lateral regexp_matches(concat(e.polqual::text, e.polwithcheck::text), ':relid (\d+)', 'g') as found (number)
    join svc_private.relations s on s.oid = found.number[1]::oid
   where p.has_rls and (p.for_everybody or role.name = any (p.roles))
), reached as (
  select policy, name, relid, role, asks, first_asked from asked
  union
  select r.policy, r.name, r.relid, r.role, a.asks, r.first_asked
    from reached r
    join asked a on a.relid = r.asks and a.role = r.role and a.is_asked_in_turn
)
select distinct on (r.policy)
       'error' as severity, 'pg_catalog.pg_policy'::regclass as catalog, r.policy as object, 0 as part, r.name,
       format('reads %s, and through it its own table again: PostgreSQL refuses the statement as infinite recursion', r.first_asked) as problem,
       format(case when w.command in ('insert', 'update')
                then 'Read %s in a function, language sql stable without security definer, and call that: the policies for reading apply in it.'
                else 'Read %s in a function with security definer and set search_path = '''', to which policies do not apply, and call that.'
              end, r.first_asked) as remedy
  from reached r
  join svc_private.policy_rules w on w.oid = r.policy
 where r.asks = r.relid
   -- Reading the table again fails only where its policies for reading have conditions of their own.
   and exists (
     select from svc_private.policy_rules p
       join pg_catalog.pg_policy e on e.oid = p.oid
      where p.relid = r.relid and p.command in ('select', 'all') and (p.for_everybody or r.role = any (p.roles))
        and e.polqual::text like '%{SUBLINK %')
 order by r.policy, r.role, r.first_asked;

comment on view svc_private.lint_recursive_policy is
  'Policies that read their own table, directly or through others, which PostgreSQL refuses.';
