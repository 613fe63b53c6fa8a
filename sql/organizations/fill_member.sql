-- Copies name and address of the user into a new membership. FOR SHARE: a change of the user at the same moment either comes
-- before the copy, or its trigger sees the membership (copy_user.sql).

create or replace function svc_private.fill_member()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  select u.name, u.email into new.name, new.email from auth."user" u where u.id = new.user_id for share;
  -- The foreign key refuses an unknown user.
  new.name := coalesce(new.name, '');
  new.email := coalesce(new.email, '');
  return new;
end
$$;

comment on function svc_private.fill_member() is
  'Trigger of svc.organization_members: copies name and address of the user. Definer: it reads auth."user".';

create or replace trigger fill_member
  before insert on svc.organization_members
  for each row execute function svc_private.fill_member();
