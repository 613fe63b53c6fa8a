-- The caller joins an organization by an invitation to the caller's verified address. Returns the organization; null where
-- there is no such invitation, which is all that strangers learn.
--
-- The invitation counts only while the member who sent it is not banned and may still offer its role. A demotion does not see
-- an invitation that is made at the same moment, and cannot cancel it (member_changed.sql). The organization is locked first,
-- as its deletion does: otherwise the two could wait for each other.

create or replace function svc.accept_invitation(invitation uuid)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  me constant text := svc.current_user_id();
  found_invitation svc.organization_invitations;
begin
  if svc.is_service(me) or not svc.has_scope('*') then
    raise exception 'a person accepts an invitation, or an API key of one with the scope "*"' using errcode = '42501';
  end if;
  select i.* into found_invitation from svc.organization_invitations i
   where i.id = invitation and i.email = svc.verified_email();
  perform from svc.organizations o where o.id = found_invitation.org_id for key share;
  update svc.organization_invitations i set state = 'accepted'
   where i.id = found_invitation.id and i.state = 'pending' and i.expires_at > now()
     and exists (
       select from svc.organization_members m
        where m.org_id = i.org_id and m.user_id = i.invited_by and svc_private.may_offer(m.role, i.role) and auth.may_act(m.user_id));
  if not found then
    return null;
  end if;
  insert into svc.organization_members (org_id, user_id, role)
  values (found_invitation.org_id, me, found_invitation.role)
  on conflict (user_id, org_id) do nothing;
  return found_invitation.org_id;
end
$$;

grant execute on function svc.accept_invitation(uuid) to svc_authenticated;

comment on function svc.accept_invitation(uuid) is
  'Joins the organization of an invitation to the caller''s verified address; null if there is none. '
  'Definer: no policy allows to add oneself.';
