-- Jobs of one state without their payloads, which hold data of users. The states are those that
-- sql/jobs/queue_state.sql counts, so each number of Studio leads to what it counts.
--
-- Planned for each call: with the state known, only its condition is left, and the indexes jobs_held and jobs_tried find the few
-- jobs of a state among many others.

create or replace function svc_private.studio_jobs(only_state text, most integer)
returns table (
  id bigint, kind text, name text, caller text, attempts integer, max_attempts integer, run_at timestamptz,
  last_error text
)
language plpgsql
stable
security definer
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
  select j.id, t.identifier, coalesce(j.payload ->> 'procedure', j.payload ->> 'name'),
         coalesce(j.payload #>> '{caller,userId}', j.payload #>> '{caller,kind}'),
         j.attempts::integer, j.max_attempts::integer, j.run_at, left(j.last_error, 500)
    from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id
   where case only_state
           when 'running' then j.locked_by is not null
           when 'due' then j.is_available and j.run_at <= now()
           when 'scheduled' then j.is_available and j.run_at > now() and j.attempts = 0
           when 'failing' then j.is_available and j.locked_at is null and j.run_at > now() and j.attempts > 0
           when 'dead' then not j.is_available and j.locked_at is null and j.attempts > 0 end
   order by j.id desc
   limit most;
end
$$;

comment on function svc_private.studio_jobs(text, integer) is
  'Jobs of one state, newest first, without their payloads. '
  'Definer: svc_studio_read has no rights on the queue''s tables.';

grant execute on function svc_private.studio_jobs(text, integer) to svc_studio_read;
