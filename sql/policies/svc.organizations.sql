-- Organizations. Members see theirs, owners and admins rename them, owners delete them. svc.create_organization() adds one.

alter table svc.organizations enable row level security;

create policy select_member on svc.organizations
  for select to svc_authenticated
  using (id = any (array(select svc.my_orgs())));

create policy update_admin on svc.organizations
  for update to svc_authenticated
  using (id = any (array(select svc.my_orgs('owner', 'admin'))))
  with check (id = any (array(select svc.my_orgs('owner', 'admin'))));

create policy delete_owner on svc.organizations
  for delete to svc_authenticated
  using (id = any (array(select svc.my_orgs('owner'))));

create policy only_whole_keys on svc.organizations
  as restrictive for all to svc_authenticated
  using ((select svc.has_scope('*')))
  with check ((select svc.has_scope('*')) and not svc.is_service((select svc.current_user_id())));

create policy delete_person on svc.organizations
  as restrictive for delete to svc_authenticated
  using (not svc.is_service((select svc.current_user_id())));

grant select, delete on svc.organizations to svc_authenticated;
grant update (name) on svc.organizations to svc_authenticated;

comment on policy select_member on svc.organizations is 'Members see their organizations.';
comment on policy update_admin on svc.organizations is 'Owners and admins rename them.';
comment on policy delete_owner on svc.organizations is 'Owners delete them, with all rows that refer to them on delete cascade.';
comment on policy only_whole_keys on svc.organizations is
  'An API key reads and changes them only with the scope "*", and that of a service account changes none.';
comment on policy delete_person on svc.organizations is 'A service account deletes none.';
