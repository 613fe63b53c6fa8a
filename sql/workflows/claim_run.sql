-- Gives a run to a worker, with all that it has done, and a fence that makes every earlier claim void. Called by
-- workers/tasks/workflow.ts. Null when there is nothing to do: the run has ended, is gone, or waits for its turn.
--
-- A run that is "running" already is claimed as well: the queue gives a job away twice only when its first worker is dead.
-- Ten claims without a checkpoint between them mean that the run kills its workers: it fails.
create or replace function svc_private.claim_run(run_id uuid)
returns json
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  run svc.workflow_runs;
begin
  select * into run from svc.workflow_runs r where r.id = claim_run.run_id for no key update;
  if not found or run.status not in ('pending', 'running') then
    return null;
  end if;
  if run.deadline <= clock_timestamp() then
    perform svc_private.close_run(run, 'failed', null,
      json_build_object('code', 'TIMEOUT', 'message', 'The workflow took longer than its maxDuration.'),
      'maxDuration was ' || run.max_duration);
    return null;
  end if;
  if run.claims >= 10 then
    perform svc_private.close_run(run, 'failed', null,
      json_build_object('code', 'INTERNAL', 'message', 'The workflow ended its worker again and again.'),
      'claimed 10 times without reaching a checkpoint');
    return null;
  end if;
  if run.max_running is not null and run.status = 'pending' then
    perform pg_advisory_xact_lock(726502188, hashtext(run.name));
    if (select count(*) from svc.workflow_runs r where r.name = run.name and r.status = 'running') >= run.max_running then
      update svc.workflow_runs r set wait_marker = 'slot', wake_at = null where r.id = run.id;
      if run.deadline is not null then
        perform svc_private.wake_run(run.id, run.deadline);
      end if;
      return null;
    end if;
  end if;
  perform svc_private.settle_waits(run.id);
  update svc.workflow_runs r
     set status = 'running', wait_marker = null, wake_at = null, fence = r.fence + 1, claims = r.claims + 1,
         started_at = coalesce(r.started_at, clock_timestamp()), updated_at = clock_timestamp()
   where r.id = run.id
  returning * into run;
  perform svc_private.announce_run(run.id, run.user_id);
  return json_build_object(
    'name', run.name, 'version', run.version, 'args', run.args, 'fence', run.fence, 'attempts', run.attempts,
    'userId', run.user_id, 'system', run.is_system,
    'msLeft', extract(epoch from run.deadline - clock_timestamp()) * 1000,
    'msOld', extract(epoch from clock_timestamp() - run.created_at) * 1000,
    'steps', (
      select coalesce(json_agg(json_build_object(
        'position', s.position, 'kind', s.kind, 'name', s.name, 'done', s.is_done, 'result', s.result,
        'error', s.error) order by s.seq), '[]')
        from svc.workflow_steps s where s.run_id = run.id));
end
$$;

comment on function svc_private.claim_run(uuid) is
  'Gives a run to the caller, with a new fence and all its checkpoints. '
  'Definer: svc_system has no rights on the queue''s tables.';
