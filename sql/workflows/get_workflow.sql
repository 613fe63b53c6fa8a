-- A run with its timeline: steps and events in the order of their creation. Called by ctx.workflows.get and `svc
-- workflows show`, under the caller's row-level security: null for another user's run or a missing one.
create or replace function svc.get_workflow(run_id uuid)
returns json
language plpgsql
stable
set search_path = ''
as $$
declare
  run constant json := svc_hidden.describe_run(run_id);
begin
  if run is null then
    return null;
  end if;
  return json_build_object(
    'run', run,
    'steps', (
      select coalesce(json_agg(json_build_object(
        'position', s.position, 'kind', s.kind, 'name', s.name, 'done', s.is_done, 'timedOut', s.timed_out,
        'result', s.result, 'error', s.error, 'dueAt', s.due_at, 'startedAt', s.started_at,
        'finishedAt', s.finished_at) order by s.seq), '[]')
        from svc.workflow_steps s where s.run_id = get_workflow.run_id),
    'events', (
      select coalesce(json_agg(json_build_object(
        'name', e.name, 'payload', e.payload, 'takenBy', e.taken_by, 'createdAt', e.created_at) order by e.id), '[]')
        from svc.workflow_events e where e.run_id = get_workflow.run_id));
end
$$;

grant execute on function svc.get_workflow(uuid) to svc_authenticated;

comment on function svc.get_workflow(uuid) is 'A run that the caller may see, with its steps and events; null otherwise.';
