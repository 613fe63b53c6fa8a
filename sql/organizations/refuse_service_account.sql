-- A service account cannot sign in, by whatever endpoint, plugin or administrator: it gets neither a session nor a password
-- nor an account of a provider. And it owns no organization, as an owner has to be a person who can act.

create or replace function svc_private.refuse_service_account()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if svc.is_service(new.user_id) then
    raise exception '%', tg_argv[0] using errcode = 'AP403';
  end if;
  return new;
end
$$;

comment on function svc_private.refuse_service_account() is
  'Trigger: refuses rows whose user is a service account. '
  'Definer: the login of the authentication library may not call functions of schema svc.';

create or replace trigger refuse_service_account
  before insert or update of user_id on auth.session
  for each row when (starts_with(new.user_id, 'service_'))
  execute function svc_private.refuse_service_account('A service account cannot sign in.');

create or replace trigger refuse_service_account
  before insert or update of user_id on auth.account
  for each row when (starts_with(new.user_id, 'service_'))
  execute function svc_private.refuse_service_account('A service account cannot sign in.');

create or replace trigger refuse_service_account
  before insert or update of role on svc.organization_members
  for each row when (new.role = 'owner' and starts_with(new.user_id, 'service_'))
  execute function svc_private.refuse_service_account('A service account cannot own an organization.');

comment on trigger refuse_service_account on auth.session is 'For plugins that open sessions, such as an administrator''s.';
comment on trigger refuse_service_account on auth.account is 'Passwords and providers.';
comment on trigger refuse_service_account on svc.organization_members is 'Owners are people.';
