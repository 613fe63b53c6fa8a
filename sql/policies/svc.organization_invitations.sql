-- Invitations. Owners and admins see and send those of their organization; admins do not invite owners. The invited person
-- sees an invitation if the address is verified, and rejects it. svc.accept_invitation() accepts it. Nobody deletes
-- invitations: admins see those of other admins, also old ones.

alter table svc.organization_invitations enable row level security;

create policy select_admin_or_invited on svc.organization_invitations
  for select to svc_authenticated
  using (org_id = any (array(select svc.my_orgs('owner', 'admin'))) or email = (select svc.verified_email()));

create policy insert_admin on svc.organization_invitations
  for insert to svc_authenticated
  with check (invited_by = (select svc.current_user_id()) and (
    org_id = any (array(select svc.my_orgs('owner')))
    or (role <> 'owner' and org_id = any (array(select svc.my_orgs('admin'))))));

create policy update_admin_or_invited on svc.organization_invitations
  for update to svc_authenticated
  using (state = 'pending'
    and (org_id = any (array(select svc.my_orgs('owner', 'admin'))) or email = (select svc.verified_email())))
  with check (
    (state = 'canceled' and org_id = any (array(select svc.my_orgs('owner', 'admin'))))
    or (state = 'rejected' and email = (select svc.verified_email())));

create policy only_whole_keys on svc.organization_invitations
  as restrictive for all to svc_authenticated
  using ((select svc.has_scope('*')))
  with check ((select svc.has_scope('*')) and not svc.is_service((select svc.current_user_id())));

grant select on svc.organization_invitations to svc_authenticated;
grant insert (org_id, email, role) on svc.organization_invitations to svc_authenticated;
grant update (state) on svc.organization_invitations to svc_authenticated;

comment on policy select_admin_or_invited on svc.organization_invitations is
  'Owners and admins see the invitations of their organization, and everybody those to the own verified address.';
comment on policy insert_admin on svc.organization_invitations is 'Owners invite to every role, admins to every one but owner.';
comment on policy update_admin_or_invited on svc.organization_invitations is
  'Owners and admins cancel a pending invitation, the invited person rejects it.';
comment on policy only_whole_keys on svc.organization_invitations is
  'An API key reads and changes them only with the scope "*", and that of a service account changes none.';
