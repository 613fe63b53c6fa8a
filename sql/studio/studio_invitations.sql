-- The invitations of an organization, for Studio, the newest first. `next` and `next_id` page: invitations that come after this one.
-- An invitation that has expired is shown so, whatever its column says.

create or replace function svc_private.studio_invitations(organization text, next timestamptz, next_id uuid, most integer)
returns table (
  id uuid, email text, role text, state text, invited_by text, inviter text, created_at timestamptz, expires_at timestamptz
)
language sql
stable
security definer
set search_path = ''
as $$
  select i.id, i.email, i.role, case when i.state = 'pending' and i.expires_at <= now() then 'expired' else i.state end,
         i.invited_by, u.email, i.created_at, i.expires_at
    from svc.organization_invitations i
    join auth."user" u on u.id = i.invited_by
   where i.org_id = organization
     and (i.created_at, i.id) < (coalesce(next, 'infinity'), coalesce(next_id, '00000000-0000-0000-0000-000000000000'))
   order by i.created_at desc, i.id desc
   limit most
$$;

comment on function svc_private.studio_invitations(text, timestamptz, uuid, integer) is
  'Invitations of an organization with their states, the newest first. '
  'Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_invitations(text, timestamptz, uuid, integer) to svc_studio_read;
