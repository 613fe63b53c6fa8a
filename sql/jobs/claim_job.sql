-- Gives a worker the job that has been due longest, among the most urgent of the kinds that it takes; no row when none
-- is due. Called by svc_private.claim_jobs; returns the row as the library's own statement does.
--
-- The library's statement searches for due jobs along (priority, run_at). When none is due, PostgreSQL 15 to 17 read
-- all jobs that are scheduled for later: a million of them take some 50 ms, after every job and every second. This
-- function searches one priority at a time, so that due jobs are the beginning of a range. It does not let the
-- statistics choose the plan, because the statistics of a queue are always outdated.
--
-- A job of which two workers have died (svc_private.rescue_workers) is not given to a worker that already has such a
-- job: if one of these jobs kills its worker, the others survive. The lock ensures that a worker that asks several
-- times at once gets only one of them.
--
-- A job that this worker could not run is left to the others for two seconds (svc_private.left_by).
--
-- A job that is done stays in the index until a vacuum, and each search from the beginning reads all of them: while a dump
-- or a forgotten transaction holds vacuum back, that takes longer with every job. `since`, when the job that was claimed
-- last was due, lets a search begin two seconds before it. A job that was due earlier, of a transaction that stayed open for
-- longer, or more urgent, waits for the next search without it.
--
-- Runs as svc_system, which may change the queue's rows. Of jobs in named queues, which svc does not use, one runs at a
-- time.

-- An earlier version of svc gives the last argument a default, which "or replace" could not take away.
drop function if exists svc_private.claim_job(text, integer[], timestamptz);

create or replace function svc_private.claim_job(worker text, kinds integer[], since timestamptz)
returns setof graphile_worker._private_jobs
language plpgsql
volatile
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_generic_plan  -- planning takes longer than the claim
set jit = off  -- a disabled scan has a high estimated cost: compiling would take hundreds of milliseconds
as $$
declare
  -- Before the most urgent one, or the queue's usual priority.
  urgency integer := case when since is null then -32769 else 0 end;
  start timestamptz := coalesce(since - interval '2 seconds', '-infinity');
  is_known boolean := since is not null;  -- where the search begins
begin
  loop
    if not is_known then
      -- What has been claimed before it is still in the index, until a vacuum.
      select j.priority, j.run_at into urgency, start
        from graphile_worker._private_jobs j
       where j.is_available and (j.priority, j.run_at) > (urgency, start)
       order by j.priority, j.run_at
       limit 1;
      exit when not found;
    end if;
    return query
      with due as (
        select j.id, j.job_queue_id
          from graphile_worker._private_jobs j
         where j.is_available and j.priority = urgency and j.run_at between start and now() and j.task_id = any (kinds)
           and (j.job_queue_id is null or j.job_queue_id in (
             select q.id from graphile_worker._private_job_queues q where q.is_available for update skip locked))
           and (j.flags -> 'left_by' ? worker is not true or j.run_at < now() - interval '2 seconds')
           and case
             when coalesce((j.flags ->> 'deaths')::integer, 0) < 2 then true
             when not pg_try_advisory_xact_lock(726502189, hashtext(worker)) then false
             else not exists (
               select from graphile_worker._private_jobs h
                where h.locked_by = worker and (h.flags ->> 'deaths')::integer > 1)
           end
         order by j.run_at
         limit 1
           for update skip locked
      ), held as (
        update graphile_worker._private_job_queues q set locked_by = worker, locked_at = now()
          from due where q.id = due.job_queue_id
      )
      update graphile_worker._private_jobs j
         set attempts = j.attempts + 1, locked_by = worker, locked_at = now()
        from due where j.id = due.id
      returning j.*;
    exit when found;
    start := 'infinity';
    is_known := false;
  end loop;
end
$$;

comment on function svc_private.claim_job(text, integer[], timestamptz) is
  'Gives the worker the most urgent due job of these kinds; no row if there is none.';

-- For workers of earlier versions of svc, which a release replaces or brings back.
create or replace function svc_private.claim_job(worker text, kinds integer[])
returns setof graphile_worker._private_jobs
language sql
volatile
set search_path = ''
as $$
  select * from svc_private.claim_job(worker, kinds, null)
$$;

comment on function svc_private.claim_job(text, integer[]) is 'Gives a job to a worker of an earlier version of svc.';
