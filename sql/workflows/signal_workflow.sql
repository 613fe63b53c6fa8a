-- As svc_private.signal_any_workflow, for the current user's own runs: other users' runs answer as if they did not
-- exist. Called by ctx.workflows. Only the requests' login may execute it, never its roles: see svc.enqueue_job.
create or replace function svc.signal_workflow(run_id uuid, event text, content json)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if current_setting('transaction_read_only')::boolean then
    raise exception 'a query cannot signal a workflow' using errcode = '25006';
  end if;
  -- Without a user nothing matches: anonymous callers own no runs.
  if not svc_private.shows_own_run(run_id) then
    return 'unknown';
  end if;
  return svc_private.signal_any_workflow(run_id, event, content);
end
$$;

grant execute on function svc.signal_workflow(uuid, text, json) to svc_request;
revoke execute on function svc.signal_workflow(uuid, text, json) from svc_system;

comment on function svc.signal_workflow(uuid, text, json) is
  'Sends an event to a run of the current user: accepted, ended, full or unknown. '
  'Definer: requests have no rights on the queue''s tables; it signals only runs of the transaction''s user that the '
  'policies show.';
