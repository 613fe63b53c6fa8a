-- The organizations in which the caller has one of these roles; without roles, all organizations of the caller. For
-- policies: orgRls() of an application writes `org_id = any (array(select svc.my_orgs('owner', 'admin')))`. As an array it
-- is asked once per statement, and an index on org_id is used.
--
-- PL/pgSQL, because it keeps the plan of its statement in the session. A function in SQL with SECURITY DEFINER is planned
-- in each call before PostgreSQL 18.

create or replace function svc.my_orgs(variadic roles text[] default '{}')
returns setof text
language plpgsql
stable
security definer
rows 10
set search_path = ''
as $$
declare
  me constant text := svc.current_user_id();
begin
  if cardinality(roles) = 0 then
    return query select m.org_id from svc.organization_members m where m.user_id = me;
  else
    return query select m.org_id from svc.organization_members m where m.user_id = me and m.role = any (roles);
  end if;
end
$$;

grant execute on function svc.my_orgs(text[]) to svc_authenticated;

comment on function svc.my_orgs(text[]) is
  'Organizations in which the caller has one of the roles, or any role without arguments. Use as any (array(select svc.my_orgs(…))) in policies. '
  'Definer: the policies of the members ask it, and it tells callers about themselves.';
