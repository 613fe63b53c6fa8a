-- Removes a job that has been done, if the worker that did it still holds it; otherwise raises SV409. Called by workers:
-- for a procedure inside the transaction of its handler, so that what it wrote and the end of the job commit together.
--
-- This is the fence. A worker that was taken for dead (suspended, cut off) may wake up after its jobs were given to
-- others: its lock is gone, this raises, and its transaction rolls back. The library's own completion afterwards deletes
-- by id without asking who holds the lock; by then the row is gone already. Holding the row until COMMIT keeps the
-- rescue (svc_private.rescue_workers) from giving the job away between this and that.
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
  delete from graphile_worker._private_jobs j
   where j.id = finish_job.job_id and j.locked_by = finish_job.worker
  returning j.job_queue_id into queue;
  if not found then
    raise exception 'job % is no longer held by %', job_id, worker
      using errcode = 'SV409', hint = 'It was given to another worker. What this one did for it is undone.';
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
  'Removes a job that this worker has done; raises SV409 when it no longer holds it. '
  'Definer: the queue''s tables answer no request; it removes the one job that this worker holds.';
