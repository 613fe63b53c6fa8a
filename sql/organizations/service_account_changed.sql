-- After a service account was created, renamed or deleted, its membership and its user follow.
--
-- A new one is counted here, because the policies have allowed the row then: strangers to the organization learn nothing. An
-- organization has 20, and a person creates 20 a day, as each has the limits of a user of its own. These are counted as attempts
-- (auth/take_attempt.sql), because rows go with their organization. The system creates them without limits.
--
-- A deleted row goes with its organization; then its user goes, too, with keys, files and runs. An account that is only
-- removed keeps its row (member_changed.sql).

create or replace function svc_private.service_account_changed()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  me constant text := svc.current_user_id();
begin
  if tg_op = 'DELETE' then
    delete from auth."user" u where u.id = old.id;
    return null;
  elsif tg_op = 'UPDATE' then
    update auth."user" u set name = new.name where u.id = new.id and u.name <> new.name;
    return null;
  end if;
  if me is not null then
    -- Those who create at the same moment wait for each other, so that each counts those before it.
    perform pg_advisory_xact_lock(hashtextextended('svc.service_accounts ' || new.org_id, 0));
    if (select count(*) from svc.service_accounts s where s.org_id = new.org_id and s.role is not null) > 20 then
      raise exception 'This organization has 20 service accounts.'
        using errcode = 'AP409', hint = 'Remove one that is no longer used.';
    end if;
    if (select t.wait_seconds > 0
          from auth.take_attempt(array['serviceAccountsPerUser'], array[me], null, array[20], array[86400]) t)
    then
      raise exception 'Too many service accounts: a person creates 20 a day.'
        using errcode = 'AP429', hint = 'Continue tomorrow.';
    end if;
  end if;
  insert into svc.organization_members (org_id, user_id, role) values (new.org_id, new.id, new.role);
  return null;
end
$$;

comment on function svc_private.service_account_changed() is
  'Trigger of svc.service_accounts: limits new ones, and changes membership and user with them. '
  'Definer: no policy allows to add members, and callers do not write users.';

create or replace trigger service_account_changed
  after insert or delete or update of name on svc.service_accounts
  for each row execute function svc_private.service_account_changed();
