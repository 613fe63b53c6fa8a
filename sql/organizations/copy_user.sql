-- Keeps the copies of a user's name and address in the memberships equal to the user, and the name of a service account.

create or replace function svc_private.copy_user()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  update svc.organization_members m set name = new.name, email = new.email where m.user_id = new.id;
  if svc.is_service(new.id) then
    update svc.service_accounts s set name = new.name where s.id = new.id and s.name <> new.name;
  end if;
  return null;
end
$$;

comment on function svc_private.copy_user() is
  'Trigger of auth."user": copies a new name and address into the memberships. '
  'Definer: the login of the authentication library has no rights on them.';

create or replace trigger copy_to_members
  after update of name, email on auth."user"
  for each row when (old.name is distinct from new.name or old.email is distinct from new.email)
  execute function svc_private.copy_user();
