-- Releases a run that can only wait: no process holds it until an event comes or its next time. Called by
-- src/workflows/execute.ts with the positions of the waits. If one of them has ended meanwhile, or none is given
-- because the worker itself has to stop, the run is queued again at once.
create or replace function svc_private.suspend_run(run_id uuid, held bigint, stuck text[])
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  run constant svc.workflow_runs := svc_private.lock_run(run_id, held);
  marker text;
  due timestamptz;
  waiting integer;
begin
  perform svc_private.settle_waits(run.id);
  select count(*), min(s.due_at),
         coalesce(min('wait:' || s.name) filter (where s.kind = 'wait'), min('sleep#' || s.position))
    into waiting, due, marker
    from svc.workflow_steps s
   where s.run_id = run.id and not s.is_done and s.position = any (stuck);
  if waiting = 0 or waiting < cardinality(stuck) then
    due := clock_timestamp();
    marker := null;
  end if;
  due := least(due, run.deadline);
  update svc.workflow_runs r
     set status = 'pending', wait_marker = marker, wake_at = due, claims = 0, updated_at = clock_timestamp()
   where r.id = run.id;
  if due is not null then
    perform svc_private.wake_run(run.id, due);
  end if;
  perform svc_private.tell_run(run.id, run.user_id);
  perform svc_private.free_slot(run);
end
$$;

comment on function svc_private.suspend_run(uuid, bigint, text[]) is
  'Releases a held run until an event or a timeout ends one of these waits. '
  'Definer: svc_system has no rights on the queue''s tables.';
