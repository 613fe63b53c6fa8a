-- How many members have a role that the application does not declare, by role. Called by src/cli/doctor-work.ts. Such a role keeps its
-- members, and `admin` the rights that the policies of svc give it.

create or replace function svc_private.members_by_role(declared text[], most integer)
returns table (role text, members bigint)
language sql
stable
set search_path = ''
as $$
  select m.role, count(*) from svc.organization_members m where m.role <> all (declared) group by m.role order by m.role limit most
$$;

comment on function svc_private.members_by_role(text[], integer) is 'Numbers of members with roles other than these.';
