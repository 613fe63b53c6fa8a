-- The jobs in the queue, for `svc jobs list` and related commands. state summarizes several columns in one word, and
-- means the same as in queue_state.sql and studio_jobs.sql.
--
-- running: held by a worker. dead: all attempts are used up; a person has to decide. due: could run now. failing: has
-- failed, and waits for its next attempt. scheduled: has not been tried, and its time has not come.

create or replace function svc_private.list_jobs(only_state text, only_id bigint, most integer)
returns table (
  id bigint, kind text, name text, state text, caller text, attempts integer, max_attempts integer,
  run_at timestamptz, created_at timestamptz, locked_by text, locked_at timestamptz, last_error text, payload json
)
language sql
stable
set search_path = ''
as $$
  with known as (
    select j.id, t.identifier as kind, coalesce(j.payload ->> 'procedure', j.payload ->> 'name') as name,
           case when j.locked_at is not null then 'running'
                when j.attempts >= j.max_attempts then 'dead'
                when j.run_at <= now() then 'due'
                when j.attempts > 0 then 'failing'
                else 'scheduled' end as state,
           coalesce(j.payload #>> '{caller,userId}', j.payload #>> '{caller,kind}') as caller,
           j.attempts::integer, j.max_attempts::integer, j.run_at, j.created_at, j.locked_by, j.locked_at, j.last_error,
           j.payload
      from graphile_worker._private_jobs j
      join graphile_worker._private_tasks t on t.id = j.task_id
  )
  select k.*
    from known k
   where (only_state is null or k.state = only_state) and (only_id is null or k.id = only_id)
   order by k.id desc
   limit most
$$;

comment on function svc_private.list_jobs(text, bigint, integer) is
  'Jobs in the queue, newest first, with a state in one word: dead, running, failing, due or scheduled.';
