-- One run of a workflow with its steps and the names of its events, for Studio's timeline: times and names, no data of
-- users.

create or replace function svc_private.studio_run(run_id uuid)
returns json
language sql
stable
security definer
set search_path = ''
as $$
  select json_build_object(
           'id', r.id, 'name', r.name, 'version', r.version, 'status', r.status, 'wait_marker', r.wait_marker,
           'caller', case when r.is_system then 'system' else coalesce(r.user_id, 'anonymous') end,
           'user_id', r.user_id, 'attempts', r.attempts, 'created_at', r.created_at, 'started_at', r.started_at,
           'wake_at', r.wake_at, 'finished_at', r.finished_at, 'deadline', r.deadline,
           'error', left(concat_ws(': ', r.error ->> 'code', r.error ->> 'message'), 2000),
           'hint', left(r.error ->> 'hint', 2000),
           'steps', (
             select coalesce(json_agg(s order by s.seq), '[]')
               from (select w.seq, w.position, w.kind, w.name, w.is_done, w.timed_out, w.error is not null as failed,
                            w.attempts, w.due_at, w.started_at, w.finished_at
                       from svc.workflow_steps w where w.run_id = r.id order by w.seq desc limit 500) s),
           'events', (
             select coalesce(json_agg(e order by e.id), '[]')
               from (select v.id, v.name, v.taken_by, v.created_at
                       from svc.workflow_events v where v.run_id = r.id order by v.id desc limit 500) e))
    from svc.workflow_runs r
   where r.id = studio_run.run_id
$$;

comment on function svc_private.studio_run(uuid) is
  'One run with its last 500 steps and events, without arguments, results and payloads; null when there is none. '
  'Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_run(uuid) to svc_studio_read;
