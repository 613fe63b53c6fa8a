-- Registers a cron, or returns its stored state. Called by each worker at its first look (workers/crontab.ts).
--
-- A new cron, and one whose schedule has changed, begins now. For an unchanged one nothing happens: its times continue,
-- also those of an interval. One whose last time is still to come begins now too: the clock was wrong and has been set back,
-- and the cron would wait until that time. Five minutes are for clocks that are corrected a little.

create or replace function svc_private.register_cron(cron text, schedule text, now timestamptz)
returns table (anchor timestamptz, last_slot timestamptz)
language plpgsql
volatile
set search_path = ''
as $$
begin
  insert into svc_private.crons as c (name, schedule, anchor, last_slot)
  values (register_cron.cron, register_cron.schedule, register_cron.now, register_cron.now)
  on conflict (name) do update
     set schedule = excluded.schedule, anchor = excluded.anchor, last_slot = excluded.last_slot
   where c.schedule <> excluded.schedule or c.last_slot > excluded.last_slot + interval '5 minutes';

  return query select c.anchor, c.last_slot from svc_private.crons c where c.name = register_cron.cron;
end
$$;

comment on function svc_private.register_cron(text, text, timestamptz) is
  'Registers a cron, or a change of its schedule; returns the start of the schedule and the time that was claimed '
  'last.';
