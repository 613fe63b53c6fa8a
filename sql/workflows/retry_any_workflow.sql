-- Continues a run that failed or was cancelled, from its last checkpoint or from a step, for any user. Called by
-- svc.retry_workflow, and by svc_private.act_retry_workflow.
--
-- From its last checkpoint: if the handler threw, the last step that failed for good, and everything recorded after it,
-- is repeated. Other branches of the same wf.parallel repeat only what failed in them, and what followed there. A run that
-- ended otherwise (cancelled, its time up, its code changed) keeps all checkpoints: its handler had caught such an error,
-- and the steps after it have run.
-- From a step, given by name (the first of that name) or position: it and everything recorded after it is deleted and
-- repeated. Events that ended a deleted wait stay used: for a new decision, send a new event.
-- Answers accepted, active (it has not ended in failure), no_step or unknown.
create or replace function svc_private.retry_any_workflow(run_id uuid, from_step text)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  run svc.workflow_runs;
  first bigint;
  last text;
  repeated bigint[] := '{}';
  kept bigint;
begin
  select * into run from svc.workflow_runs r where r.id = retry_any_workflow.run_id for no key update;
  if not found then
    return 'unknown';
  elsif run.status not in ('failed', 'cancelled') then
    return 'active';
  end if;
  if from_step is not null then
    select min(s.seq) into first from svc.workflow_steps s
     where s.run_id = run.id and (s.name = from_step or s.position = from_step);
    if first is null then
      return 'no_step';
    end if;
    repeated := array(select s.seq from svc.workflow_steps s where s.run_id = run.id and s.seq >= first);
  -- A handler may throw TIMEOUT itself; a worker's clock may be a little ahead of the deadline.
  elsif run.status = 'failed' and (
    run.error ->> 'step' is not null
    or run.error ->> 'code' not in ('NON_DETERMINISTIC', 'UNKNOWN_VERSION', 'TIMEOUT')
    or run.error ->> 'code' = 'TIMEOUT' and coalesce(run.finished_at < run.deadline - interval '1 second', true)
  ) then
    select s.position into last from svc.workflow_steps s
     where s.run_id = run.id and s.error is not null order by s.seq desc limit 1;
    repeated := array(
      select s.seq from svc.workflow_steps s
        join svc.workflow_steps f on f.run_id = s.run_id and f.error is not null and f.seq <= s.seq
       where s.run_id = run.id and not svc_private.in_other_branch(s.position, f.position)
         and (f.position = last or svc_private.in_other_branch(f.position, last)));
  end if;
  delete from svc.workflow_steps s where s.run_id = run.id and s.seq = any (repeated);
  -- New numbers, so that no worker takes its cached checkpoints for valid (claim_run).
  for kept in
    select s.seq from svc.workflow_steps s
     where s.run_id = run.id and s.seq > (select min(r) from unnest(repeated) r) order by s.seq
  loop
    update svc.workflow_steps s set seq = default where s.seq = kept;
  end loop;
  -- A wait that had not ended starts again with its full duration.
  delete from svc.workflow_steps s where s.run_id = run.id and not s.is_done;
  update svc.workflow_runs r
     set status = 'pending', wait_marker = null, error = null, error_detail = null, attempts = 0, claims = 0,
         finished_at = null, deadline = clock_timestamp() + r.max_duration, updated_at = clock_timestamp()
   where r.id = run.id;
  perform svc_private.wake_run(run.id, clock_timestamp());
  perform svc_private.tell_run(run.id, run.user_id);
  return 'accepted';
end
$$;

comment on function svc_private.retry_any_workflow(uuid, text) is
  'Retries a run that failed or was cancelled: accepted, active, no_step or unknown. '
  'Definer: svc_system has no rights on the queue''s tables.';
