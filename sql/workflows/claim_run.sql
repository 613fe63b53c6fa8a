-- Gives a run to a worker, with its checkpoints, and a fence that invalidates every earlier claim. Called by
-- src/workflows/execute.ts. Null when there is nothing to do: the run has ended, is gone, or waits for its turn.
--
-- A run that is already "running" is claimed too: the queue gives a job away twice only when its first worker is dead.
-- Ten claims without a checkpoint between them mean that the run kills its workers: it fails.
--
-- A worker that had the run before says which checkpoints it knows: all up to a number, except unfinished ones. It gets
-- only the others; otherwise a handler that runs many times would read all checkpoints each time. Finished checkpoints
-- never change; svc_private.retry_any_workflow() deletes the last ones, or renumbers them. So the worker's
-- knowledge is valid if its last known checkpoint exists and was made at the same time: after a failover numbers alone
-- may be used again.
--
-- `limits` has the number of running runs by workflow, as the worker's code says. A release may have changed it: with the
-- number of its start, a run would wait beside free places, and those behind it too.
create or replace function svc_private.claim_run(
  run_id uuid, known_seq bigint, known_at timestamptz, unfinished bigint[], limits json
)
returns json
language plpgsql
volatile
security definer
set search_path = ''
set plan_cache_mode = force_generic_plan  -- planning the question for the checkpoints takes longer than the rest
as $$
declare
  run svc.workflow_runs;
  others bigint;
  most bigint;
  is_first boolean; -- then it has no checkpoints
  is_known boolean := false;
  checkpoints json := '[]';
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
    -- Without runs that were started without a limit, before or after a release that changed it: their end wakes nobody.
    select count(*) into others from svc.workflow_runs r
     where r.name = run.name and r.status = 'running' and r.max_running is not null;
    most := coalesce((limits ->> run.name)::bigint, run.max_running);
    if others >= most then
      update svc.workflow_runs r set wait_marker = 'slot', wake_at = null where r.id = run.id;
      if run.deadline is not null then
        perform svc_private.wake_run(run.id, run.deadline);
      end if;
      return null;
    end if;
  end if;
  is_first := run.started_at is null;
  if not is_first then
    perform svc_private.settle_waits(run.id);
  end if;
  update svc.workflow_runs r
     set status = 'running', wait_marker = null, wake_at = null, fence = r.fence + 1, claims = r.claims + 1,
         started_at = coalesce(r.started_at, clock_timestamp()), updated_at = clock_timestamp()
   where r.id = run.id
  returning * into run;
  -- free_slot wakes one run at a time and skips runs that others have locked: the next run gets its slot here.
  if others + 1 < most then
    perform svc_private.free_slot(run);
  end if;
  perform svc_private.tell_run(run.id, run.user_id);
  if not is_first then
    is_known := exists (
      select from svc.workflow_steps s where s.seq = known_seq and s.run_id = run.id and s.started_at = known_at);
    select coalesce(json_agg(json_build_object(
        'seq', s.seq, 'at', s.started_at::text, 'position', s.position, 'kind', s.kind, 'name', s.name, 'done', s.is_done,
        'result', s.result, 'error', s.error) order by s.seq), '[]')
      into checkpoints
      from (
        select * from svc.workflow_steps a where not is_known and a.run_id = run.id
        union all
        select * from svc.workflow_steps n where is_known and n.run_id = run.id and n.seq > known_seq
        union all
        select * from svc.workflow_steps u where is_known and u.run_id = run.id and u.seq <= known_seq and u.seq = any (unfinished)
      ) s;
  end if;
  return json_build_object(
    'name', run.name, 'version', run.version, 'args', run.args, 'fence', run.fence, 'attempts', run.attempts,
    'userId', run.user_id, 'system', run.is_system,
    'msLeft', extract(epoch from run.deadline - clock_timestamp()) * 1000,
    'msOld', extract(epoch from clock_timestamp() - run.created_at) * 1000,
    'isAddition', is_known,
    'steps', checkpoints);
end
$$;

comment on function svc_private.claim_run(uuid, bigint, timestamptz, bigint[], json) is
  'Claims a run for the caller, with a new fence and the checkpoints that the caller does not know. '
  'Definer: svc_system has no rights on the queue''s tables.';

-- For workers of versions of svc that know no limits: those that a release replaces, or that take its place again.
create or replace function svc_private.claim_run(
  run_id uuid, known_seq bigint default null, known_at timestamptz default null, unfinished bigint[] default '{}'
)
returns json
language sql
volatile
set search_path = ''
as $$
  select svc_private.claim_run(run_id, known_seq, known_at, unfinished, null)
$$;

comment on function svc_private.claim_run(uuid, bigint, timestamptz, bigint[]) is
  'Claims a run for a worker of an earlier version of svc.';
