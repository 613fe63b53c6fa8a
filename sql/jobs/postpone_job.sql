-- Returns a job to the queue for later, because its worker cannot run it: its connections do not work, or its code does not
-- have the procedure. That is not the job's fault. Called by workers/run-job.ts through the direct connection of the queue. The
-- attempt does not count. The pause doubles with each time in a row, from one second up to a minute. After it, other workers,
-- which may be able to run it, get the job first (svc_private.left_by).
--
-- For a workflow run, the claim does not count either (svc_private.claim_run): ten claims without a checkpoint would fail
-- it. The run is locked before its job, in the order of svc_private.wake_run; the opposite order could deadlock.
--
-- False if the worker does not hold the job any more.

create or replace function svc_private.postpone_job(job_id bigint, worker text, reason text)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  run uuid := (select (j.payload ->> 'runId')::uuid from graphile_worker._private_jobs j where j.id = job_id);
begin
  perform from svc.workflow_runs r where r.id = run for no key update;
  if svc_private.remove_replaced_jobs(postpone_job.worker, job_id) > 0 then
    return true;
  end if;
  update graphile_worker._private_jobs j
     set attempts = greatest(0, j.attempts - 1), locked_at = null, locked_by = null, last_error = reason,
         flags = coalesce(j.flags, '{}') || jsonb_build_object(
           'outages', o.outages, 'left_by', svc_private.left_by(j.flags, postpone_job.worker)),
         run_at = clock_timestamp() + least(60, power(2, o.outages - 1)) * interval '1 second'
    from (
      select least(100, coalesce((h.flags ->> 'outages')::integer, 0) + 1) as outages
        from graphile_worker._private_jobs h where h.id = job_id) o
   where j.id = job_id and j.locked_by = postpone_job.worker;
  if not found then
    return false;
  end if;
  update svc.workflow_runs r set claims = greatest(0, r.claims - 1) where r.id = run and r.status = 'running';
  return true;
end
$$;

comment on function svc_private.postpone_job(bigint, text, text) is
  'Returns a job to the queue for later without using up an attempt; false if this worker does not hold it. '
  'Definer: svc_system has no rights on the queue''s tables.';
