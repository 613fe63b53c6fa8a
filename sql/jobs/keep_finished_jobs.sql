-- Adds jobs that a worker has finished to svc.job_history, many at once, and removes the oldest rows beyond `most`.
-- Called by every worker at most once a second (workers/job-history.ts).
--
-- `entry` numbers the rows, so the rows to remove are the beginning of the primary key. A number that a transaction
-- used and rolled back makes the history one row shorter for a while. Names of procedures have at most 128 characters;
-- a job for a procedure that does not exist may have more.
--
-- A worker whose connection broke during the COMMIT of a last attempt cannot know whether the job is done. The queue
-- knows: a dead job stays in it, and the transaction of a done one has removed it.

create or replace function svc_private.keep_finished_jobs(jobs jsonb, most integer)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  with added as (
    insert into svc.job_history (job, kind, name, outcome, attempts, run_at, started_at, finished_at)
    select j.job, j.kind, left(j.name, 128),
           case when exists (select from graphile_worker._private_jobs q where q.id = j.job) then j.outcome else 'done' end,
           j.attempts, j.run_at, j.started_at,
           j.started_at + j.ms * interval '1 millisecond'
      from jsonb_to_recordset(keep_finished_jobs.jobs) as j (
        job bigint, kind text, name text, outcome text, attempts integer, run_at timestamptz, started_at timestamptz,
        ms float8)
    returning entry
  )
  delete from svc.job_history h where h.entry <= (select max(a.entry) from added a) - keep_finished_jobs.most
$$;

comment on function svc_private.keep_finished_jobs(jsonb, integer) is
  'Adds finished jobs to the history, and removes all but the newest. '
  'Definer: svc_system only reads svc.job_history.';
