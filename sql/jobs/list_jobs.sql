-- The jobs in the queue, for `svc jobs list` and related commands. state summarizes several columns in one word, and
-- means the same as in queue_state.sql and studio_jobs.sql.
--
-- running: held by a worker. dead: all attempts are used up; a person has to decide. due: could run now. failing: has
-- failed, and waits for its next attempt. scheduled: has not been tried, and its time has not come.
--
-- Planned for each call: with the values known, a job is found by its id, the newest by the end of the primary key, and
-- running, failing and dead jobs by the indexes jobs_held and jobs_tried.

create or replace function svc_private.list_jobs(only_state text, only_id bigint, most integer)
returns table (
  id bigint, kind text, name text, state text, caller text, attempts integer, max_attempts integer,
  run_at timestamptz, created_at timestamptz, locked_by text, locked_at timestamptz, last_error text, payload json
)
language plpgsql
stable
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
  select j.id, t.identifier, coalesce(j.payload ->> 'procedure', j.payload ->> 'name'),
         case when j.locked_by is not null then 'running'
              when not j.is_available then 'dead'
              when j.run_at <= now() then 'due'
              when j.attempts > 0 then 'failing'
              else 'scheduled' end,
         coalesce(j.payload #>> '{caller,userId}', j.payload #>> '{caller,kind}'),
         j.attempts::integer, j.max_attempts::integer, j.run_at, j.created_at, j.locked_by, j.locked_at, j.last_error,
         j.payload
    from graphile_worker._private_jobs j
    join graphile_worker._private_tasks t on t.id = j.task_id
   where (only_id is null or j.id = only_id)
     and case only_state
           when 'running' then j.locked_by is not null
           when 'due' then j.is_available and j.run_at <= now()
           when 'scheduled' then j.is_available and j.run_at > now() and j.attempts = 0
           when 'failing' then j.is_available and j.locked_at is null and j.run_at > now() and j.attempts > 0
           when 'dead' then not j.is_available and j.locked_at is null and j.attempts > 0
           else true end
   order by j.id desc
   limit most;
end
$$;

comment on function svc_private.list_jobs(text, bigint, integer) is
  'Jobs in the queue, newest first, with a state in one word: dead, running, failing, due or scheduled.';
