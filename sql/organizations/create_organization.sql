-- Creates an organization with the caller as its owner, and returns its id. A function, because no policy can allow a
-- membership in an organization that nobody is a member of yet. An account owns at most 100 organizations.

create or replace function svc.create_organization(name text)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  me constant text := svc.current_user_id();
  org text;
begin
  if me is null or svc.is_service(me) or not svc.has_scope('*') then
    raise exception 'an organization needs a person, or an API key of one with the scope "*"' using errcode = '42501';
  end if;
  -- Calls of one user at the same moment wait for each other, so that each counts those before it.
  perform pg_advisory_xact_lock(hashtextextended('svc.organizations ' || me, 0));
  if (select count(*) from svc.organization_members m where m.user_id = me and m.role = 'owner') >= 100 then
    raise exception 'This account owns 100 organizations.'
      using errcode = 'AP429', hint = 'Delete one, or make another member its owner.';
  end if;
  insert into svc.organizations (name) values (btrim(create_organization.name)) returning id into org;
  insert into svc.organization_members (org_id, user_id, role) values (org, me, 'owner');
  return org;
end
$$;

grant execute on function svc.create_organization(text) to svc_authenticated;

comment on function svc.create_organization(text) is
  'Creates an organization with the caller as its owner. '
  'Definer: no policy allows the first membership.';
