-- Ends a locked run. Called by end_run, claim_run and cancel_any_workflow. If a worker holds the run's job, the job
-- stays with it; otherwise the job is removed. It is removed last: the end of another run may be waking this one, whose row is
-- locked here, and would wait for the job with the lock that free_slot waits for.
create or replace function svc_private.close_run(
  run svc.workflow_runs, how text, outcome json, failure json, detail text
)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  update svc.workflow_runs r
     set status = how, wait_marker = null, wake_at = null, result = outcome, error = failure, error_detail = detail,
         finished_at = clock_timestamp(), updated_at = clock_timestamp()
   where r.id = run.id;
  perform svc_private.tell_run(run.id, run.user_id);
  perform svc_private.free_slot(run);
  if run.status = 'pending' then
    delete from graphile_worker._private_jobs j where j.key = 'workflow:' || run.id and j.locked_at is null;
  end if;
end
$$;

revoke execute on function svc_private.close_run(svc.workflow_runs, text, json, json, text) from svc_system;

comment on function svc_private.close_run(svc.workflow_runs, text, json, json, text) is
  'Ends a locked run as completed, failed or cancelled.';
