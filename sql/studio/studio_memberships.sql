-- The organizations of a user with the user's roles, for Studio, in the order of their ids. `next` pages: ids after it.

create or replace function svc_private.studio_memberships(of_user text, next text, most integer)
returns table (org_id text, org_name text, role text, created_at timestamptz)
language sql
stable
security definer
set search_path = ''
as $$
  select m.org_id, o.name, m.role, m.created_at
    from svc.organization_members m
    join svc.organizations o on o.id = m.org_id
   where m.user_id = of_user and m.org_id > coalesce(next, '')
   order by m.org_id
   limit most
$$;

comment on function svc_private.studio_memberships(text, text, integer) is
  'Organizations of a user with the user''s roles. '
  'Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_memberships(text, text, integer) to svc_studio_read;
