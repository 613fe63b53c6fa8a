-- Completes a new invitation before the policies check it: who sends it, the name of the organization, the address in lower
-- case. An invitation that has expired makes room for the new one.

create or replace function svc_private.prepare_invitation()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  new.email := lower(btrim(new.email));
  new.invited_by := coalesce(svc.current_user_id(), new.invited_by);
  select o.name into new.org_name from svc.organizations o where o.id = new.org_id;
  update svc.organization_invitations i set state = 'expired'
   where i.org_id = new.org_id and i.email = new.email and i.state = 'pending' and i.expires_at <= now();
  return new;
end
$$;

comment on function svc_private.prepare_invitation() is
  'Trigger of svc.organization_invitations: completes a new row. '
  'Definer: callers do not write these columns. If the policies refuse the row, nothing of it stays.';

create or replace trigger prepare_invitation
  before insert on svc.organization_invitations
  for each row execute function svc_private.prepare_invitation();
