-- After a member has gone, or has another role:
-- - Pending invitations that this person may not send any more are canceled, and those to this person's address. Otherwise a
--   removed admin could come back by an invitation to another address.
-- - An organization keeps an owner. Owners who go at the same moment wait for each other at the organization's row. The
--   lock lets new members in: it does not conflict with that of foreign keys.
-- - The row of a service account follows. When it has gone, its keys are revoked, and nothing else: its rows and files stay with
--   the organization.
--
-- Deleting an account deletes its memberships, so the account of the last owner is refused, too.

create or replace function svc_private.member_changed()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  new_role constant text := case when tg_op = 'UPDATE' then new.role end;
  org_name text;
begin
  select o.name into org_name from svc.organizations o where o.id = old.org_id;
  if not found then
    return null; -- the organization is being deleted, with its invitations
  end if;
  update svc.organization_invitations i set state = 'canceled'
   where i.org_id = old.org_id and i.state = 'pending'
     and (i.invited_by = old.user_id and svc_private.may_offer(new_role, i.role) is not true
          or new_role is null and i.email = old.email);
  if svc.is_service(old.user_id) then
    update svc.service_accounts s set role = new_role where s.id = old.user_id and s.org_id = old.org_id;
    if found and new_role is null then
      delete from auth.api_key k where k.user_id = old.user_id;
    end if;
  end if;
  if old.role = 'owner' and new_role is distinct from 'owner' then
    perform from svc.organizations o where o.id = old.org_id for no key update;
    if found and not exists (
      select from svc.organization_members m where m.org_id = old.org_id and m.role = 'owner') then
      raise exception 'The organization "%" needs an owner.', org_name
        using errcode = 'AP409', hint = 'Make another member an owner first, or delete the organization.';
    end if;
  end if;
  return null;
end
$$;

comment on function svc_private.member_changed() is
  'Trigger of svc.organization_members: cancels invitations, keeps an owner, and revokes keys of service accounts. '
  'Definer: members see neither all invitations nor, while they go, the other owners.';

create or replace trigger member_changed
  after delete or update of role on svc.organization_members
  for each row execute function svc_private.member_changed();
