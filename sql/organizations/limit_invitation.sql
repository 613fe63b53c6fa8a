-- Refuses invitations to members, and too many of them: each sends a mail. An account sends 100 a day, and an address gets
-- 10 a day from all organizations. After the insert, because the policies have allowed the row then: strangers to the
-- organization learn nothing here. The system may invite without limits.

create or replace function svc_private.limit_invitation()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  me constant text := svc.current_user_id();
  since constant timestamptz := now() - interval '1 day';
begin
  if exists (select from svc.organization_members m where m.org_id = new.org_id and m.email = new.email) then
    raise exception 'This address belongs to a member.' using errcode = 'AP409';
  end if;
  if me is null then
    return null;
  end if;
  -- Invitations at the same moment wait for each other, so that each counts those before it.
  perform pg_advisory_xact_lock(hashtextextended('svc.organization_invitations ' || me, 0));
  if (select count(*) from svc.organization_invitations i where i.invited_by = me and i.created_at > since) > 100 then
    raise exception 'This account has sent 100 invitations today.' using errcode = 'AP429', hint = 'Continue tomorrow.';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('svc.organization_invitations.email ' || new.email, 0));
  if (select count(*) from svc.organization_invitations i where i.email = new.email and i.created_at > since) > 10 then
    raise exception 'This address was invited 10 times today.' using errcode = 'AP429', hint = 'Continue tomorrow.';
  end if;
  return null;
end
$$;

comment on function svc_private.limit_invitation() is
  'Trigger of svc.organization_invitations: refuses addresses of members, and too many invitations. '
  'Definer: it counts invitations that the caller cannot see.';

create or replace trigger limit_invitation
  after insert on svc.organization_invitations
  for each row execute function svc_private.limit_invitation();
