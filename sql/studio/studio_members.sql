-- The members of an organization, for Studio, those who came last first. `next` and `next_id` page: members that come after this one.

create or replace function svc_private.studio_members(organization text, next timestamptz, next_id uuid, most integer)
returns table (id uuid, user_id text, email text, name text, role text, created_at timestamptz)
language sql
stable
security definer
set search_path = ''
as $$
  select m.id, m.user_id, m.email, m.name, m.role, m.created_at
    from svc.organization_members m
   where m.org_id = organization
     and (m.created_at, m.id) < (coalesce(next, 'infinity'), coalesce(next_id, '00000000-0000-0000-0000-000000000000'))
   order by m.created_at desc, m.id desc
   limit most
$$;

comment on function svc_private.studio_members(text, timestamptz, uuid, integer) is
  'Members of an organization with their roles, the newest first. '
  'Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_members(text, timestamptz, uuid, integer) to svc_studio_read;
