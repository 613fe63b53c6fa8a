-- Ends the visits (svc.current_actor()) of an administrator who is banned, deleted or gets another role, in the same transaction:
-- otherwise somebody who lost the role would act as other users for the rest of the hour.
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
  administrators text[];
begin
  if tg_op = 'DELETE' then
    select array_agg(o.id) into administrators from old_users o;
  else
    select array_agg(changed.id) into administrators
      from (select o.id, to_jsonb(o) ->> 'role', to_jsonb(o) ->> 'banned' from old_users o
            except select n.id, to_jsonb(n) ->> 'role', to_jsonb(n) ->> 'banned' from new_users n) changed;
  end if;
  if administrators is not null and exists (
    select from pg_catalog.pg_attribute a
     where a.attrelid = 'auth.session'::regclass and a.attname = 'impersonated_by' and not a.attisdropped
  ) then
    execute 'delete from auth.session where impersonated_by = any ($1)' using administrators;
  end if;
  return null;
end
$$;

comment on function auth.end_visits() is
  'Trigger of auth."user": ends the visits of an administrator who is banned, deleted or gets another role. '
  'Definer: those who may change users need not reach sessions.';

create or replace trigger end_visits
  after update on auth."user" referencing old table as old_users new table as new_users
  for each statement execute function auth.end_visits();

create or replace trigger end_visits_of_deleted
  after delete on auth."user" referencing old table as old_users
  for each statement execute function auth.end_visits();

comment on trigger end_visits on auth."user" is 'Another role, or a ban.';
comment on trigger end_visits_of_deleted on auth."user" is 'A transition table belongs to one event.';
