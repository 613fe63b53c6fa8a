-- A run in the form of ctx.workflows, without its steps. Called by svc.get_workflow and svc.list_workflows, and by
-- src/workflows/procedures.ts before a client steers a run. It runs under the caller's row-level security, and lists
-- columns one by one, because not all of them are granted.
create or replace function svc_hidden.describe_run(run_id uuid)
returns json
language plpgsql
stable
set search_path = ''
as $$
begin
  return (
    select json_build_object(
      'id', r.id, 'name', r.name, 'version', r.version, 'status', r.status, 'waitMarker', r.wait_marker,
      'args', r.args, 'result', r.result, 'error', r.error, 'attempts', r.attempts, 'wakeAt', r.wake_at,
      'deadline', r.deadline, 'createdAt', r.created_at, 'updatedAt', r.updated_at, 'startedAt', r.started_at,
      'finishedAt', r.finished_at)
      from svc.workflow_runs r where r.id = describe_run.run_id);
end
$$;

grant execute on function svc_hidden.describe_run(uuid) to svc_authenticated;

comment on function svc_hidden.describe_run(uuid) is 'A run that the caller may see, as JSON; null otherwise.';
