-- Runs of all users, newest first, with their steps, for operators. Called by `svc workflows` as svc_system.
--
-- Planned for each call: with the values known, a run is found by its id, and failed runs by the index workflow_runs_failed.

create or replace function svc_private.list_runs(wanted_status text, wanted_id uuid, most integer)
returns table (
  id uuid, name text, version integer, status text, wait_marker text, caller text, attempts integer, args json, result json,
  error json, error_detail text, wake_at timestamptz, created_at timestamptz, finished_at timestamptz, steps json
)
language plpgsql
stable
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
  select r.id, r.name, r.version::integer, r.status::text, r.wait_marker,
         case when r.is_system then 'system' else coalesce(r.user_id, 'anonymous') end,
         r.attempts, r.args, r.result, r.error, r.error_detail, r.wake_at, r.created_at, r.finished_at,
         (select json_agg(json_build_object('position', s.position, 'kind', s.kind, 'name', s.name, 'done', s.is_done,
                                            'failed', s.error is not null) order by s.seq)
            from svc.workflow_steps s where s.run_id = r.id)
    from svc.workflow_runs r
   where (wanted_status is null or r.status = wanted_status) and (wanted_id is null or r.id = wanted_id)
   order by r.created_at desc, r.id desc
   limit most;
end
$$;

comment on function svc_private.list_runs(text, uuid, integer) is
  'Runs of workflows of all users, newest first; of one status, or the one with this id.';
