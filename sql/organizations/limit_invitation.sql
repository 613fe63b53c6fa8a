-- Refuses invitations to members, and too many of them: each sends a mail. An account sends 100 a day, and at most 5 of them to one
-- address, so that no stranger alone uses up what an address gets: 50 a day from all organizations.
--
-- They are counted as attempts (auth/take_attempt.sql), because rows go with their organization: after its deletion the mails are
-- sent all the same. After the insert, because the policies have allowed the row then: strangers to the organization learn nothing
-- here. The system may invite without limits.

create or replace function svc_private.limit_invitation()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  me constant text := svc.current_user_id();
  address constant text := encode(sha256(convert_to(new.email, 'UTF8')), 'hex');
begin
  if exists (select from svc.organization_members m where m.org_id = new.org_id and m.email = new.email) then
    raise exception 'This address belongs to a member.' using errcode = 'AP409';
  end if;
  -- Invitations at the same moment wait for each other at the counters.
  if me is not null and (
    select t.wait_seconds > 0
      from auth.take_attempt(
        array['invitationsPerUser', 'invitationsPerUserAndAddress', 'invitationsPerAddress'],
        array[me, me || ' ' || address, address], null, array[100, 5, 50], array[86400, 86400, 86400]) t)
  then
    raise exception 'Too many invitations: an account sends 100 a day, 5 of them to one address, and an address gets 50.'
      using errcode = 'AP429', hint = 'Continue tomorrow.';
  end if;
  return null;
end
$$;

comment on function svc_private.limit_invitation() is
  'Trigger of svc.organization_invitations: refuses addresses of members, and too many invitations. '
  'Definer: it counts invitations of others.';

create or replace trigger limit_invitation
  after insert on svc.organization_invitations
  for each row execute function svc_private.limit_invitation();

comment on table svc.organization_invitations is
  'Invitations to organizations by address. Rows that are no longer pending stay for 30 days.';
