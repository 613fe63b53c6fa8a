-- Writes the checkpoint of a step that is done, or that failed for good. Called by src/workflows/ as the last statement
-- before COMMIT, in the step's own transaction if it used wf.db, so that its writes and the checkpoint commit together;
-- otherwise alone.
--
-- SECURITY DEFINER, executable by the requests' login (never by its roles) and by the system.
create or replace function svc.record_step(
  run_id uuid, held bigint, place text, step text, outcome json, failure json, began timestamptz
)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  owner text;
  tries integer;
  is_stale boolean; -- whether the run's row has to be written
begin
  -- The fence, as in lock_run. Most steps only lock the row: to write it each time would take a quarter longer, and leave
  -- an old version of it for vacuum. So updated_at may be a second old.
  -- Tries are failures, and claims since the last one: the present claim, and those whose workers died. In a branch,
  -- another one may have failed. An earlier version of this function has set the claims to 0.
  select r.user_id, case when strpos(place, '.') = 0 then r.attempts + greatest(r.claims, 1) end,
         r.attempts > 0 or r.claims > 1 or r.updated_at < clock_timestamp() - interval '1 second'
    into owner, tries, is_stale
    from svc.workflow_runs r
   where r.id = record_step.run_id and r.status = 'running' and r.fence = held
     for no key update;
  if not found then
    perform svc_private.lock_run(run_id, held); -- which says why not
  end if;
  if is_stale then
    update svc.workflow_runs r set attempts = 0, claims = 1, updated_at = clock_timestamp() where r.id = record_step.run_id;
  end if;
  insert into svc.workflow_steps (run_id, position, kind, name, is_done, result, error, user_id, attempts, started_at, finished_at)
    values (record_step.run_id, place, 'step', step, true, outcome, failure, owner, tries, began, clock_timestamp());
  perform svc_private.tell_run(run_id, owner);
end
$$;

grant execute on function svc.record_step(uuid, bigint, text, text, json, json, timestamptz) to svc_request;

comment on function svc.record_step(uuid, bigint, text, text, json, json, timestamptz) is
  'Writes the checkpoint of a step; raises SV409 if the run is no longer held with this fence. '
  'Definer: requests may not write steps; it writes only for the run that is held with this fence.';
