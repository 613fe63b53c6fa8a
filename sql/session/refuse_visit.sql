-- An administrator who acts as a user (svc.current_actor()) lets nobody into the user's organizations: an invitation, another
-- role and a service account would outlive the visit. Keys of service accounts are refused by auth.insert_api_key().
--
-- A trigger, because a policy would answer that the user may not do this.

create or replace function svc_private.refuse_visit()
returns trigger
language plpgsql
volatile
set search_path = ''
as $$
begin
  raise exception 'An administrator who acts as a user cannot do this for the user.' using errcode = 'AP403';
end
$$;

comment on function svc_private.refuse_visit() is
  'Trigger: refuses what would outlive the visit of an administrator who acts as a user.';

create or replace trigger refuse_visit
  before insert on svc.organization_invitations
  for each row when (svc.current_actor() = 'visit')
  execute function svc_private.refuse_visit();

create or replace trigger refuse_visit
  before update of role on svc.organization_members
  for each row when (svc.current_actor() = 'visit')
  execute function svc_private.refuse_visit();

create or replace trigger refuse_visit
  before insert on svc.service_accounts
  for each row when (svc.current_actor() = 'visit')
  execute function svc_private.refuse_visit();

comment on trigger refuse_visit on svc.organization_invitations is 'An invitation outlives the visit.';
comment on trigger refuse_visit on svc.organization_members is 'So does another role.';
comment on trigger refuse_visit on svc.service_accounts is 'So does a program of the organization.';
