-- An operator's removal of a member from an organization, with its line in svc.operator_acts. The trigger of the table cancels
-- the invitations of this person, and refuses to remove the last owner (sql/organizations/member_changed.sql).

create or replace function svc_private.act_remove_member(organization text, of_user text)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  delete from svc.organization_members m where m.org_id = organization and m.user_id = of_user;
  if not found then
    return false;
  end if;
  perform svc_private.note_act(
    'act_remove_member', jsonb_build_object('organization', organization, 'user', of_user), 'removed');
  return true;
end
$$;

comment on function svc_private.act_remove_member(text, text) is
  'Removes a member from an organization and writes the act; false, and no line, when there is no such member. '
  'Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_remove_member(text, text) to svc_studio_act;
