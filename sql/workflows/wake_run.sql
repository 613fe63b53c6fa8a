-- Schedules the run's only job, found by its key, for a time, and replaces any other time. Called in the transaction
-- that changes the run, so that both always agree.
--
-- The job has many attempts, because a crash uses one up. The run's own count of claims decides when it is given up
-- (claim_run).
create or replace function svc_private.wake_run(run_id uuid, due timestamptz)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform svc_private.add_job(
    'workflow',
    json_strip_nulls(json_build_object('runId', wake_run.run_id, 'trace', svc_private.current_trace())),
    due,
    1000,
    'workflow:' || wake_run.run_id
  );
end
$$;

revoke execute on function svc_private.wake_run(uuid, timestamptz) from svc_system;

comment on function svc_private.wake_run(uuid, timestamptz) is 'Creates or moves the only job of a run.';
