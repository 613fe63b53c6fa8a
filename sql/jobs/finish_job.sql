-- Removes a completed job, if the worker that ran it still holds it; otherwise raises SV409. Called by workers: for a
-- procedure inside the transaction of its handler, so that its writes and the end of the job commit together.
--
-- This is the fencing check. A worker that was considered dead (suspended, cut off) may wake up after its jobs were
-- given to others. Its lock is gone, so this function raises and the worker's transaction rolls back. The library's own
-- completion afterwards deletes by id without checking who holds the lock, but by then the row is already gone. Holding
-- the row lock until COMMIT keeps the rescue (svc_private.rescue_workers) from giving the job away in between.
--
-- SECURITY DEFINER, executable by the requests' login (never by its roles) and by the system.

create or replace function svc.finish_job(job_id bigint, worker text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  queue integer;
begin
  -- "is not distinct from", because the planner would search along jobs_held, the index of held jobs, and read all
  -- that this worker has held since the last vacuum.
  delete from graphile_worker._private_jobs j
   where j.id = finish_job.job_id and j.locked_by is not distinct from coalesce(finish_job.worker, '')
  returning j.job_queue_id into queue;
  if not found then
    raise exception 'job % is no longer held by %', job_id, worker
      using errcode = 'SV409', hint = 'It was given to another worker. The changes of this worker are rolled back.';
  end if;
  if queue is not null then
    update graphile_worker._private_job_queues q
       set locked_by = null, locked_at = null
     where q.id = queue and q.locked_by = finish_job.worker;
  end if;
end
$$;

grant execute on function svc.finish_job(bigint, text) to svc_request;

comment on function svc.finish_job(bigint, text) is
  'Removes a job that this worker has done; raises SV409 if the worker no longer holds it. '
  'Definer: requests have no rights on the queue''s tables; it removes only the job that this worker holds.';
