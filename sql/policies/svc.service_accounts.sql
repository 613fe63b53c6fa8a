-- Service accounts. Owners and admins see, create and rename those of their organization; also what was removed, as the history
-- names it. Members see them in svc.organization_members. Those who may remove a member remove them there. A service account
-- manages none, also not itself.

alter table svc.service_accounts enable row level security;

create policy select_admin on svc.service_accounts
  for select to svc_authenticated
  using (org_id = any (array(select svc.my_orgs('owner', 'admin'))));

create policy insert_admin on svc.service_accounts
  for insert to svc_authenticated
  with check (role <> 'owner' and org_id = any (array(select svc.my_orgs('owner', 'admin'))));

create policy update_admin on svc.service_accounts
  for update to svc_authenticated
  using (org_id = any (array(select svc.my_orgs('owner', 'admin'))))
  with check (org_id = any (array(select svc.my_orgs('owner', 'admin'))));

create policy only_people on svc.service_accounts
  as restrictive for all to svc_authenticated
  using ((select svc.has_scope('*')) and not svc.is_service((select svc.current_user_id())));

grant select on svc.service_accounts to svc_authenticated;
grant insert (org_id, name, role) on svc.service_accounts to svc_authenticated;
grant update (name) on svc.service_accounts to svc_authenticated;

comment on policy select_admin on svc.service_accounts is 'Owners and admins see those of their organization.';
comment on policy insert_admin on svc.service_accounts is 'With every role but owner.';
comment on policy update_admin on svc.service_accounts is 'Owners and admins rename them.';
comment on policy only_people on svc.service_accounts is
  'A person, also by an API key with the scope "*". No key of a service account.';
