-- Uses up the attempts of a job that its worker holds, for a job that can never succeed: it is dead as soon as the
-- library has recorded its error. Called by workers/run-job.ts. `svc jobs retry` restores all attempts, as for any dead
-- job.

create or replace function svc_private.end_attempts(job_id bigint, worker text)
returns void
language sql
volatile
set search_path = ''
as $$
  update graphile_worker._private_jobs j
     set attempts = j.max_attempts
   where j.id = job_id and j.locked_by = worker
$$;

comment on function svc_private.end_attempts(bigint, text) is
  'Uses up the attempts of a job that this worker holds, so that its failure is final.';
