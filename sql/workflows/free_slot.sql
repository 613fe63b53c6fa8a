-- Wakes the oldest run that waits for its turn, where only so many of a workflow may run at a time. Called when one stops
-- running. The advisory lock keeps this and claim_run apart: no run is left asleep beside a free place.
create or replace function svc_private.free_slot(run svc.workflow_runs)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  next uuid;
begin
  if run.max_running is null then
    return;
  end if;
  perform pg_advisory_xact_lock(726502188, hashtext(run.name));
  update svc.workflow_runs r set wait_marker = null
   where r.id = (
     select w.id from svc.workflow_runs w
      -- Only runs that are pending wait. Not said here: with it, PostgreSQL may take the index of active runs and sort
      -- them all.
      where w.name = run.name and w.wait_marker = 'slot'
      order by w.created_at, w.id limit 1 for no key update skip locked)
  returning r.id into next;
  if next is not null then
    perform svc_private.wake_run(next, clock_timestamp());
  end if;
end
$$;

revoke execute on function svc_private.free_slot(svc.workflow_runs) from svc_system;

comment on function svc_private.free_slot(svc.workflow_runs) is 'Wakes the next run that waits for one of its name to stop.';
