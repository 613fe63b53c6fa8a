-- Completes a new invitation before the policies check it: who sends it, the name of the organization, the address in lower
-- case. An invitation that has expired makes room for the new one.
--
-- A list such as "a@example.com, b@example.com" is refused: a mailer would send it to all of them, and the limit of an address
-- would not count. So are characters that end a line of a mail, or are not seen.

create or replace function svc_private.prepare_invitation()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  new.email := svc_private.lower_address(btrim(new.email));
  if new.email !~ '^[^\s@,;:<>()"\\]+@[^\s@,;:<>()"\\]+$'
    or new.email ~ '[\u0001-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]' then
    raise exception 'This is not one address, such as name@example.com.' using errcode = 'AP400';
  end if;
  new.invited_by := coalesce(svc.current_user_id(), new.invited_by);
  select o.name into new.org_name from svc.organizations o where o.id = new.org_id;
  update svc.organization_invitations i set state = 'expired'
   where i.org_id = new.org_id and i.email = new.email and i.state = 'pending' and i.expires_at <= now();
  return new;
end
$$;

comment on function svc_private.prepare_invitation() is
  'Trigger of svc.organization_invitations: completes a new row. '
  'Definer: callers do not write these columns. If the policies refuse the row, nothing of it stays.';

create or replace trigger prepare_invitation
  before insert on svc.organization_invitations
  for each row execute function svc_private.prepare_invitation();
