-- Claims one of a cron's times and enqueues its procedure, both or neither. Every worker calls it when the time has
-- come. The row lock lets one worker in at a time, and the first one moves last_slot.
--
-- Times before `slot` that no worker claimed are skipped: after an outage there is one run, not one for each missed
-- time. A worker of a version with another schedule claims nothing once the newer one is registered. A time of a paused
-- cron is claimed without a job.

create or replace function svc_private.claim_cron(cron text, schedule text, slot timestamptz, procedure text)
returns table (job bigint, last_slot timestamptz)
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  runs boolean;
begin
  update svc_private.crons c set last_slot = slot, last_job = null
   where c.name = claim_cron.cron and c.schedule = claim_cron.schedule and c.last_slot < slot
  returning c.paused_at is null into runs;
  -- Not in the SET list above: that is worked out before the row is locked, by everybody who then finds it taken.
  if runs then
    job := svc_private.enqueue_system_job(procedure, null, null, null, 'cron:' || cron);
    update svc_private.crons c set last_job = job where c.name = claim_cron.cron;
  end if;

  select c.last_slot into last_slot from svc_private.crons c where c.name = claim_cron.cron;
  return next;
end
$$;

comment on function svc_private.claim_cron(text, text, timestamptz, text) is
  'Enqueues a cron''s procedure for one of its times, unless this was done before or it is paused; returns the job, or '
  'null, and the latest time. '
  'Definer: svc_system has no rights on the queue''s tables.';
