-- Releases a run that this worker's code does not know but another worker's may: during a release, workers of the
-- previous version receive runs that newer processes have started. Called by src/workflows/execute.ts. It uses up no
-- attempt of the run. Other workers get its next job first (svc_private.left_by).
create or replace function svc_private.pass_on_run(run_id uuid, held bigint, delay interval)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  run constant svc.workflow_runs := svc_private.lock_run(run_id, held);
  due constant timestamptz := least(clock_timestamp() + delay, run.deadline);
  left_by constant jsonb := (
    select svc_private.left_by(j.flags, j.locked_by)
      from graphile_worker._private_jobs j
     where j.key = 'workflow:' || pass_on_run.run_id and j.locked_by is not null);
begin
  update svc.workflow_runs r
     set status = 'pending', wait_marker = 'version', wake_at = due, claims = 0, updated_at = clock_timestamp()
   where r.id = run.id;
  perform svc_private.wake_run(run.id, due);
  update graphile_worker._private_jobs j
     set flags = jsonb_build_object('left_by', left_by)
   where j.key = 'workflow:' || run.id and left_by is not null;
  perform svc_private.tell_run(run.id, run.user_id);
  perform svc_private.free_slot(run);
end
$$;

comment on function svc_private.pass_on_run(uuid, bigint, interval) is
  'Releases a held run for a worker whose code knows it. '
  'Definer: svc_system has no rights on the queue''s tables.';
