-- Ensures that one job of the kind sweep-storage waits in the queue. Called by every worker that starts, and by the job
-- itself for the next day, as svc_system (workers/runner.ts, workers/tasks/sweep-storage.ts).
--
-- SECURITY DEFINER, because the queue's tables belong to svc_owner. The job key makes it unique: a waiting job keeps
-- its time, however many workers start; a running one passes its key to the next.

create or replace function svc_private.keep_sweep_job(delay interval)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  select from graphile_worker.add_job(
    identifier => 'sweep-storage', payload => '{}'::json, run_at => clock_timestamp() + delay, max_attempts => 3,
    job_key => 'sweep-storage', job_key_mode => 'preserve_run_at')
$$;

comment on function svc_private.keep_sweep_job(interval) is
  'Keeps one sweep of stored bytes in the queue: the one already waiting, or a new one after the delay. '
  'Definer: svc_system has no rights on the queue''s tables.';
