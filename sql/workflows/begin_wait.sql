-- Begins a wait for an event, or a sleep. Called by src/workflows/ when a handler reaches one for the first time. An
-- event that came earlier ends the wait at once.
--
-- Returns {"done", "result"}. If it is not done, the worker releases the run (suspend_run).
create or replace function svc_private.begin_wait(
  run_id uuid, held bigint, place text, what text, event text, patience interval
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  run constant svc.workflow_runs := svc_private.lock_run(run_id, held);
  early svc.workflow_events;
begin
  if what = 'wait' then
    update svc.workflow_events e set taken_by = place
     where e.id = (
       select f.id from svc.workflow_events f
        where f.run_id = run.id and f.name = event and f.taken_by is null order by f.id limit 1)
    returning * into early;
  end if;
  insert into svc.workflow_steps (run_id, position, kind, name, is_done, result, user_id, due_at, finished_at)
    values (run.id, place, what, event, early.id is not null, early.payload, run.user_id,
      clock_timestamp() + patience, case when early.id is not null then clock_timestamp() end);
  update svc.workflow_runs r set attempts = 0, claims = 1, updated_at = clock_timestamp() where r.id = run.id;
  perform svc_private.tell_run(run.id, run.user_id);
  return json_build_object('done', early.id is not null, 'result', early.payload);
end
$$;

comment on function svc_private.begin_wait(uuid, bigint, text, text, text, interval) is
  'Begins a wait or sleep of a held run; returns whether an earlier event has already ended it. '
  'Definer: svc_system has no rights on the queue''s tables.';
