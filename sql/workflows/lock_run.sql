-- Locks a run that a worker holds, or raises SV409 when the worker no longer holds it: it was cancelled, failed at its
-- deadline, or given to another worker. Every function with which a worker writes calls this first: it is the fence.
-- (svc.record_step has its own check, and calls this when that fails.)
--
-- NO KEY UPDATE, because checkpoints refer to the run and must not wait for each other's foreign key.
create or replace function svc_private.lock_run(run_id uuid, held bigint)
returns svc.workflow_runs
language plpgsql
volatile
set search_path = ''
as $$
declare
  run svc.workflow_runs;
begin
  select * into run from svc.workflow_runs r
   where r.id = lock_run.run_id and r.status = 'running' and r.fence = lock_run.held
     for no key update;
  if not found then
    raise exception 'the run % is no longer held with %', run_id, held
      using errcode = 'SV409', hint = 'It was cancelled, or given to another worker. The changes of this worker are rolled back.';
  end if;
  return run;
end
$$;

revoke execute on function svc_private.lock_run(uuid, bigint) from svc_system;

comment on function svc_private.lock_run(uuid, bigint) is 'Locks a run that is held with this fence; raises SV409 otherwise.';
