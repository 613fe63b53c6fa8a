-- Claims one of a cron's times and enqueues its procedure, both or neither. Every worker calls it when the time has
-- come. The row lock lets one worker in at a time, and the first one moves last_slot.
--
-- Times before `slot` that no worker claimed are skipped: after an outage there is one run, not one for each missed
-- time. A time of a paused cron is claimed without a job.
--
-- During a release, workers of two releases may have two schedules for a cron. The one that was registered last holds as
-- long as a worker with it lives (svc_private.is_held_by_worker). After that the others take over: a release may be taken
-- back without a restart of the workers that it had not replaced yet. last_slot stays, so no time runs twice.
--
-- `base` is the start of the intervals as the worker knows it. A worker with another one than the stored one claims
-- nothing and learns the stored one: with two starts an interval would run twice as often. Null, from workers of earlier
-- versions of svc, compares and takes over nothing.

create or replace function svc_private.claim_cron(
  cron text, schedule text, slot timestamptz, procedure text, base timestamptz
)
returns table (job bigint, last_slot timestamptz, registered text, anchor timestamptz)
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  stored svc_private.crons;
begin
  select * into stored from svc_private.crons c where c.name = claim_cron.cron for update;
  if stored.schedule <> claim_cron.schedule and base is not null
     and not svc_private.is_held_by_worker(format('cron %s %s', stored.name, stored.schedule)) then
    stored.schedule := claim_cron.schedule;
    stored.anchor := base;
  end if;
  if stored.schedule = claim_cron.schedule and stored.anchor = coalesce(base, stored.anchor) and stored.last_slot < slot then
    stored.last_slot := slot;
    stored.last_job := null;
    if stored.paused_at is null then
      stored.last_job := svc_private.enqueue_system_job(procedure, null, null, null, 'cron:' || cron);
    end if;
    job := stored.last_job;
    update svc_private.crons c
       set schedule = stored.schedule, anchor = stored.anchor, last_slot = stored.last_slot, last_job = stored.last_job
     where c.name = claim_cron.cron;
  end if;
  last_slot := stored.last_slot;
  registered := stored.schedule;
  anchor := stored.anchor;
  return next;
end
$$;

comment on function svc_private.claim_cron(text, text, timestamptz, text, timestamptz) is
  'Enqueues a cron''s procedure for one of its times, unless this was done before or it is paused; returns the job, or '
  'null, the latest time, and the schedule and start as they are registered. '
  'Definer: svc_system has no rights on the queue''s tables.';

-- For workers of versions of svc that send no start: those that a release replaces, or that take its place again.
create or replace function svc_private.claim_cron(cron text, schedule text, slot timestamptz, procedure text)
returns table (job bigint, last_slot timestamptz)
language sql
volatile
set search_path = ''
as $$
  select c.job, c.last_slot from svc_private.claim_cron(cron, schedule, slot, procedure, null) c
$$;

comment on function svc_private.claim_cron(text, text, timestamptz, text) is
  'Enqueues a cron''s procedure for a worker of an earlier version of svc.';
