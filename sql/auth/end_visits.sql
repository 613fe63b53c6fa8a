-- Ends the visits (svc.current_actor()) of an administrator who is banned, deleted or gets another role, in the same transaction:
-- otherwise somebody who lost the role would act as other users for the rest of the hour. Ends the sessions of a user who is
-- banned: the plugin's endpoint does so itself, SQL would not.
--
-- The columns exist only with better-auth's `admin` plugin, so they are read by name. One search of the sessions for each statement,
-- because they have no index for it, and only where a role or a ban has changed or somebody was deleted. EXCEPT, because the plan of
-- a join is kept from the first statement: made for one row, it took 90 s for 10,000.
--
-- SECURITY DEFINER, because those who may change users need not reach sessions.

create or replace function auth.end_visits()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  changed text[];
begin
  if tg_op = 'DELETE' then
    select array_agg(o.id) into changed from old_users o;
  else
    select array_agg(c.id) into changed
      from (select o.id, to_jsonb(o) ->> 'role', to_jsonb(o) ->> 'banned', to_jsonb(o) ->> 'ban_expires' from old_users o
            except
            select n.id, to_jsonb(n) ->> 'role', to_jsonb(n) ->> 'banned', to_jsonb(n) ->> 'ban_expires' from new_users n) c;
  end if;
  if changed is null then
    return null;
  end if;
  delete from auth.session s using auth."user" u
   where u.id = any (changed) and s.user_id = u.id and auth.is_banned(u);
  if exists (
    select from pg_catalog.pg_attribute a
     where a.attrelid = 'auth.session'::regclass and a.attname = 'impersonated_by' and not a.attisdropped
  ) then
    execute 'delete from auth.session where impersonated_by = any ($1)' using changed;
  end if;
  return null;
end
$$;

comment on function auth.end_visits() is
  'Trigger of auth."user": ends the visits of an administrator who is banned, deleted or gets another role, and the '
  'sessions of a user who is banned. Definer: those who may change users need not reach sessions.';

create or replace trigger end_visits
  after update on auth."user" referencing old table as old_users new table as new_users
  for each statement execute function auth.end_visits();

create or replace trigger end_visits_of_deleted
  after delete on auth."user" referencing old table as old_users
  for each statement execute function auth.end_visits();

comment on trigger end_visits on auth."user" is 'Another role, or a ban.';
comment on trigger end_visits_of_deleted on auth."user" is 'A transition table belongs to one event.';
