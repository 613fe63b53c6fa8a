-- Ends the waits and sleeps of a run whose time has come. Called by functions that hold the row lock of the run, before
-- they read or add anything. So of an event and a timeout the first one decides.
create or replace function svc_private.settle_waits(run_id uuid)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  update svc.workflow_steps s
     set is_done = true, timed_out = s.kind = 'wait', finished_at = clock_timestamp()
   where s.run_id = settle_waits.run_id and not s.is_done and s.due_at <= clock_timestamp();
end
$$;

revoke execute on function svc_private.settle_waits(uuid) from svc_system;

comment on function svc_private.settle_waits(uuid) is 'Ends the waits and sleeps of a locked run that are due.';
