-- Starts a workflow in the caller's transaction, for the current user. Called by ctx.workflows.
--
-- SECURITY DEFINER. Only the requests' login may execute it, never its roles: see svc.enqueue_job.
create or replace function svc.start_workflow(
  workflow text, code_version integer, run_args json, run_key text, longest interval, most_running integer
)
returns uuid
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if current_setting('transaction_read_only')::boolean then
    raise exception 'a query cannot start a workflow' using errcode = '25006';
  end if;
  return svc_private.add_run(
    svc.current_user_id(), false, workflow, code_version, run_args, run_key, longest, most_running);
end
$$;

grant execute on function svc.start_workflow(text, integer, json, text, interval, integer) to svc_request;
revoke execute on function svc.start_workflow(text, integer, json, text, interval, integer) from svc_system;

comment on function svc.start_workflow(text, integer, json, text, interval, integer) is
  'Starts a workflow as the current user; returns the id of its run. '
  'Definer: requests have no rights on the queue''s tables; the run''s user is read from the transaction.';
