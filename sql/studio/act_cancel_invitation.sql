-- An operator's cancellation of a pending invitation, with its line in svc.operator_acts. The line has no address.

create or replace function svc_private.act_cancel_invitation(invitation uuid)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  organization text;
begin
  update svc.organization_invitations i set state = 'canceled'
   where i.id = invitation and i.state = 'pending' and i.expires_at > now()
  returning i.org_id into organization;
  if not found then
    return false;
  end if;
  perform svc_private.note_act('act_cancel_invitation',
    jsonb_build_object('invitation', invitation, 'organization', organization), 'canceled');
  return true;
end
$$;

comment on function svc_private.act_cancel_invitation(uuid) is
  'Cancels a pending invitation and writes the act; false, and no line, when it is not pending. '
  'Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_cancel_invitation(uuid) to svc_studio_act;
