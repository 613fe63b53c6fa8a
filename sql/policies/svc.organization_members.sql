-- Members of organizations. All members see all of them. Owners change and remove everybody, admins everybody but owners, and
-- nobody gives a role above the own one. Everybody may leave. Nobody adds members: svc.create_organization() and
-- svc.accept_invitation() do.

alter table svc.organization_members enable row level security;

create policy select_member on svc.organization_members
  for select to svc_authenticated
  using (org_id = any (array(select svc.my_orgs())));

create policy update_admin on svc.organization_members
  for update to svc_authenticated
  using (org_id = any (array(select svc.my_orgs('owner')))
    or (role <> 'owner' and org_id = any (array(select svc.my_orgs('admin')))))
  with check (org_id = any (array(select svc.my_orgs('owner')))
    or (role <> 'owner' and org_id = any (array(select svc.my_orgs('admin')))));

create policy delete_admin_or_self on svc.organization_members
  for delete to svc_authenticated
  using (user_id = (select svc.current_user_id())
    or org_id = any (array(select svc.my_orgs('owner')))
    or (role <> 'owner' and org_id = any (array(select svc.my_orgs('admin')))));

create policy only_whole_keys on svc.organization_members
  as restrictive for all to svc_authenticated
  using ((select svc.has_scope('*')))
  with check ((select svc.has_scope('*')) and not svc.is_service((select svc.current_user_id())));

create policy delete_person on svc.organization_members
  as restrictive for delete to svc_authenticated
  using (not svc.is_service((select svc.current_user_id())));

grant select, delete on svc.organization_members to svc_authenticated;
grant update (role) on svc.organization_members to svc_authenticated;

comment on policy select_member on svc.organization_members is 'Members see the members of their organizations.';
comment on policy update_admin on svc.organization_members is
  'Owners give every role, admins every one but owner, and not to owners.';
comment on policy delete_admin_or_self on svc.organization_members is
  'Owners remove everybody, admins everybody but owners, and everybody may leave.';
comment on policy only_whole_keys on svc.organization_members is
  'An API key reads and changes them only with the scope "*", and that of a service account changes none.';
comment on policy delete_person on svc.organization_members is 'A service account deletes none.';
