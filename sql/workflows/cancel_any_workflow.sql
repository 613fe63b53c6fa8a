-- Ends a run of any user as cancelled. The next checkpoint of a worker that holds it is refused. Its current step is not
-- interrupted; the changes that the step made through wf.db are rolled back. Called by svc.cancel_workflow,
-- svc_private.act_cancel_workflow and svc_private.cancel_any_job. Answers accepted, ended or unknown.
create or replace function svc_private.cancel_any_workflow(run_id uuid)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  run svc.workflow_runs;
begin
  select * into run from svc.workflow_runs r where r.id = cancel_any_workflow.run_id for no key update;
  if not found then
    return 'unknown';
  elsif run.status not in ('pending', 'running') then
    return 'ended';
  end if;
  perform svc_private.close_run(run, 'cancelled', null, null, null);
  return 'accepted';
end
$$;

comment on function svc_private.cancel_any_workflow(uuid) is
  'Ends a run as cancelled: accepted, ended or unknown. '
  'Definer: svc_system has no rights on the queue''s tables.';
