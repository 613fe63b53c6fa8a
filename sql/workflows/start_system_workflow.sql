-- As svc.start_workflow, for a run of the system. Called by ctx.workflows in code that already runs as the system.
create or replace function svc_private.start_system_workflow(
  workflow text, code_version integer, run_args json, run_key text, longest interval, most_running integer
)
returns uuid
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  return svc_private.add_run(null, true, workflow, code_version, run_args, run_key, longest, most_running);
end
$$;

comment on function svc_private.start_system_workflow(text, integer, json, text, interval, integer) is
  'Starts a workflow as the system; returns the id of its run. '
  'Definer: svc_system has no rights on the queue''s tables.';
