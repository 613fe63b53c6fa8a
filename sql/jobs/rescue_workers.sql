-- Returns the jobs of dead workers to the queue. Called by every worker, every two seconds (workers/rescue.ts).
--
-- A worker is dead when its lock (svc_private.hold_worker) was free in two consecutive checks: `suspects` are those of
-- the caller's last check. This gives a worker whose connection broke the time to open another. After a restart of
-- PostgreSQL all connections are new, so during `grace` no worker is dead. A worker that was merely slow loses its
-- jobs, and nothing else: svc.finish_job() refuses its results.
--
-- A rescued job has used up an attempt and records how often its worker died. A job that kills every worker is
-- therefore not retried forever; in the end it is dead like any other. The first death is mostly not the job's fault,
-- so the job is due again at once. From the second death on it waits as after as many errors, with a random variation
-- of half. Then the jobs that ran beside it on its worker are done before it runs again, and do not die with it each
-- time (svc_private.claim_job also keeps such jobs apart). For a workflow run, claims of the run
-- (svc_private.claim_run) count instead of deaths; a checkpoint resets them.
--
-- SECURITY DEFINER for the notification: workers take the jobs at once and not at their next poll.

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
  -- A start that is still to come was noted before the clock was set back.
  if clock_timestamp() - pg_postmaster_start_time() between interval '0' and grace then
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
      perform svc_private.remove_replaced_jobs(holder);
      update graphile_worker._private_jobs j
         set locked_at = null, locked_by = null,
             flags = coalesce(j.flags, '{}') || jsonb_build_object('deaths', d.deaths),
             last_error = format('The worker died while it ran this, %s.',
               case d.deaths when 1 then 'once' else d.deaths || ' times' end),
             run_at = case when d.deaths = 1 then j.run_at
               else clock_timestamp() + (0.5 + random()) * exp(least(d.deaths, 10)) * interval '1 second' end
        from (
          select h.id,
                 case when r.id is not null then greatest(r.claims, 1)
                   else coalesce((h.flags ->> 'deaths')::integer, 0) + 1 end as deaths
            from graphile_worker._private_jobs h
            left join svc.workflow_runs r on r.id = substring(h.key from '^workflow:([0-9a-f-]{36})$')::uuid
           where h.locked_by = holder) d
       where j.id = d.id and j.locked_by = holder;
      update graphile_worker._private_job_queues q set locked_at = null, locked_by = null where q.locked_by = holder;
      perform pg_notify('jobs:insert', '{"count":100}');
    end if;
    return next;
  end loop;
end
$$;

comment on function svc_private.rescue_workers(text[], interval) is
  'Suspects: workers that hold jobs and whose lock is free. Takes the jobs from workers that already were suspects. '
  'Definer: svc_system may not notify, and workers must take the jobs at once.';
