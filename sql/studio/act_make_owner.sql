-- An operator's change of a member to an owner, with its line in svc.operator_acts: for an organization whose owners cannot sign in any
-- more. Nobody else can do it then.

create or replace function svc_private.act_make_owner(organization text, of_user text)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  update svc.organization_members m set role = 'owner'
   where m.org_id = organization and m.user_id = of_user and m.role <> 'owner';
  if not found then
    return false;
  end if;
  perform svc_private.note_act(
    'act_make_owner', jsonb_build_object('organization', organization, 'user', of_user), 'made an owner');
  return true;
end
$$;

comment on function svc_private.act_make_owner(text, text) is
  'Makes a member an owner and writes the act; false, and no line, when there is no such member, or it is one already. '
  'Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_make_owner(text, text) to svc_studio_act;
