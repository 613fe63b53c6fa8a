-- Removes expired sessions, one-time values that nobody redeemed, and API keys that expired 30 days ago: until then lists
-- show them. Called by src/auth/sweeper.ts as svc_auth, regularly by every process; one process at a time does the work.
--
-- It works in batches, so that no transaction holds many locks or lasts long; the caller calls again while there is
-- more. Rows that are locked by another session are left for the next time. The tables are read from the beginning: an
-- index on expires_at would make every extension of a session cost more than this (migrations/0002_create_auth.sql).

create or replace function auth.sweep(batch integer)
returns integer
language plpgsql
volatile
set search_path = ''
as $$
declare
  sessions integer;
  one_time_values integer;
  keys integer;
begin
  if not pg_try_advisory_xact_lock(7265021846115) then
    return 0;
  end if;

  delete from auth.session s
   where s.id = any (array(
     select e.id from auth.session e where e.expires_at < now() limit sweep.batch for update skip locked
   ));
  get diagnostics sessions = row_count;

  delete from auth.verification v
   where v.id = any (array(
     select e.id from auth.verification e where e.expires_at < now() limit sweep.batch for update skip locked
   ));
  get diagnostics one_time_values = row_count;

  delete from auth.api_key k
   where k.id = any (array(
     select e.id from auth.api_key e where e.expires_at < now() - interval '30 days' limit sweep.batch
        for update skip locked
   ));
  get diagnostics keys = row_count;

  return greatest(sessions, one_time_values, keys);
end
$$;

grant execute on function auth.sweep(integer) to svc_auth;

comment on function auth.sweep(integer) is
  'Removes expired sessions, one-time values and API keys, up to a limit of each; returns the largest of the numbers.';
