-- Removes rows of svc.job_history by their age. Called by workers/job-history.ts, once a day. Their number is limited
-- by keep_finished_jobs.sql.
--
-- It works in batches, so that no transaction holds many locks or lasts long; the caller calls again while there is more.
-- `entry` numbers the rows, so the oldest ones are found first.

create or replace function svc_private.sweep_job_history(age interval, batch integer)
returns integer
language sql
volatile
security definer
set search_path = ''
as $$
  with removed as (
    delete from svc.job_history h
     where h.entry = any (array(
       select o.entry from svc.job_history o
        where o.finished_at < now() - sweep_job_history.age order by o.entry limit sweep_job_history.batch for update skip locked))
    returning h.entry
  )
  select count(*)::integer from removed
$$;

comment on function svc_private.sweep_job_history(interval, integer) is
  'Removes finished jobs that are older than this from the history, up to a limit; returns their number. '
  'Definer: svc_system only reads svc.job_history.';

-- For workers of versions of svc that know no limit: those that a release replaces, or that take its place again.
create or replace function svc_private.sweep_job_history(age interval)
returns void
language sql
volatile
set search_path = ''
as $$
  select svc_private.sweep_job_history(age, 10000)
$$;

comment on function svc_private.sweep_job_history(interval) is
  'Removes finished jobs from the history for a worker of an earlier version of svc.';
