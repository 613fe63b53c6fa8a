-- Releases a run after an error, to retry it from its last checkpoint. Called by src/workflows/execute.ts, which counts
-- the attempts and chooses the delay.
create or replace function svc_private.retry_run_later(run_id uuid, held bigint, failure json, detail text, delay interval)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  run constant svc.workflow_runs := svc_private.lock_run(run_id, held);
  due constant timestamptz := least(clock_timestamp() + delay, run.deadline);
begin
  update svc.workflow_runs r
     set status = 'pending', wait_marker = 'retry', wake_at = due, error = failure, error_detail = detail,
         attempts = r.attempts + 1, claims = 0, updated_at = clock_timestamp()
   where r.id = run.id;
  perform svc_private.wake_run(run.id, due);
  perform svc_private.tell_run(run.id, run.user_id);
  perform svc_private.free_slot(run);
end
$$;

comment on function svc_private.retry_run_later(uuid, bigint, json, text, interval) is
  'Releases a held run after an error, to be retried after a delay. '
  'Definer: svc_system has no rights on the queue''s tables.';
