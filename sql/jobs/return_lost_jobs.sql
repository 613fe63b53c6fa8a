-- Returns jobs that a worker holds without knowing of them. Either the answer to its claim was lost, or PostgreSQL lost
-- in a crash that the job had failed, which is written without waiting for the disk (workers/queue-pool.ts). The worker
-- lives, so svc_private.rescue_workers() does not touch them. Called by every worker for its own jobs, every two
-- seconds (workers/rescue.ts).
--
-- `running` are the jobs that the worker runs, `suspects` those that the last check found: the answer to a claim may
-- still be on its way. If it takes longer still, the job runs at most twice, and svc.finish_job() accepts one of the
-- runs. SECURITY DEFINER, because the queue's tables belong to svc_owner.

create or replace function svc_private.return_lost_jobs(worker text, running bigint[], suspects bigint[])
returns table (job bigint, returned boolean)
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  for job in
    select j.id from graphile_worker._private_jobs j
     where j.locked_by = return_lost_jobs.worker
       and j.locked_at < clock_timestamp() - interval '5 seconds'
       and j.id <> all (running)
       for update skip locked
  loop
    returned := job = any (suspects);
    if returned then
      perform svc_private.remove_replaced_jobs(return_lost_jobs.worker, job);
      update graphile_worker._private_jobs j set locked_at = null, locked_by = null where j.id = job;
      perform pg_notify('jobs:insert', '{"count":1}');
    end if;
    return next;
  end loop;
end
$$;

comment on function svc_private.return_lost_jobs(text, bigint[], bigint[]) is
  'Suspects: jobs that a live worker holds but does not run. Returns those that already were suspects to the queue. '
  'Definer: svc_system has no rights on the queue''s tables, and may not notify.';
