-- Removes rows of svc.job_history by their age. Called by workers/job-history.ts, once a day. Their number is limited
-- by keep_finished_jobs.sql. Reads the whole table, which is small.

create or replace function svc_private.sweep_job_history(age interval)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  delete from svc.job_history h where h.finished_at < now() - age
$$;

comment on function svc_private.sweep_job_history(interval) is
  'Removes finished jobs that are older than this from the history. '
  'Definer: svc_system only reads svc.job_history.';
