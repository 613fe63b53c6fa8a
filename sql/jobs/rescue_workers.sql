-- Gives the jobs of dead workers back to the queue. Called by every worker, every two seconds (workers/rescue.ts).
--
-- Dead is whose lock (svc_private.hold_worker) nobody holds, twice in a row: `suspects` are those of the caller's look
-- before this one. That leaves a worker whose connection broke the time to make another. After a restart of PostgreSQL all
-- connections are new, so for `grace` nobody is dead. A worker that was merely slow loses its jobs, and nothing else:
-- svc.finish_job() refuses what it did.
--
-- A job that was rescued has used up an attempt: one that kills its worker each time does not go on for ever.
-- SECURITY DEFINER for the notification: the jobs are to be taken at once and not at somebody's next look.

create or replace function svc_private.rescue_workers(suspects text[], grace interval)
returns table (worker text, rescued boolean)
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  holder text;
begin
  if pg_postmaster_start_time() > clock_timestamp() - grace then
    return;
  end if;
  for holder in
    -- From name to name along the index jobs_held: whatever statistics say of the table, nobody reads all of it.
    with recursive holders (name) as (
      select min(j.locked_by) from graphile_worker._private_jobs j where j.locked_by is not null
      union all
      select (select min(j.locked_by) from graphile_worker._private_jobs j where j.locked_by > h.name)
        from holders h where h.name is not null
    )
    select h.name from holders h where h.name is not null
    union
    select q.locked_by from graphile_worker._private_job_queues q where q.locked_by is not null
  loop
    -- A lock that can be taken is free, and stays this transaction's: its worker cannot come back in the middle.
    continue when not pg_try_advisory_xact_lock(726502186, hashtext(holder));
    worker := holder;
    rescued := holder = any (suspects);
    if rescued then
      perform graphile_worker.force_unlock_workers(array[holder]);
      perform pg_notify('jobs:insert', '{"count":100}');
    end if;
    return next;
  end loop;
end
$$;

comment on function svc_private.rescue_workers(text[], interval) is
  'Workers that hold jobs and whose lock is free; those among them that were suspects already have lost their jobs.';
