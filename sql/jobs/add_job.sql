-- Puts a job into the queue and announces it, in the caller's transaction. Called by svc_private.add_procedure_job and
-- svc_private.wake_run. It checks nothing, so no other role may execute it.
--
-- It does what the library's add_job() does for one job without a named queue. That function plans five statements anew
-- at each call, and one of them reads all jobs of a short queue: it takes longer than a job.
--
-- A job with the same key is replaced, unless a worker holds it: then it loses the key and its further attempts, and
-- there is another job, because something changed after it had begun.

create or replace function svc_private.add_job(
  kind text, payload json, due timestamptz, most_attempts integer, job_key text default null
)
returns bigint
language plpgsql
volatile
set search_path = ''
set plan_cache_mode = force_generic_plan
as $$
declare
  task integer;
  made bigint;
begin
  select t.id into task from graphile_worker._private_tasks t where t.identifier = kind;
  if not found then
    insert into graphile_worker._private_tasks (identifier) values (kind) on conflict do nothing;
    select t.id into strict task from graphile_worker._private_tasks t where t.identifier = kind;
  end if;
  loop
    if job_key is not null then
      update graphile_worker._private_jobs j set key = null, attempts = j.max_attempts, updated_at = now()
       where j.key = job_key and not j.is_available;
    end if;
    insert into graphile_worker._private_jobs as j (task_id, payload, run_at, max_attempts, key)
      values (task, add_job.payload, coalesce(due, now()), most_attempts, job_key)
      on conflict (key) do update set
        task_id = excluded.task_id, payload = excluded.payload, run_at = excluded.run_at,
        max_attempts = excluded.max_attempts, flags = null, attempts = 0, last_error = null,
        revision = j.revision + 1, updated_at = now()
        where j.locked_at is null
      returning j.id into made;
    exit when found; -- otherwise a worker has claimed the job between the two statements
  end loop;
  -- The library reads "count". Without a random number PostgreSQL would send equal notices of a transaction only once.
  perform pg_notify('jobs:insert', format('{"r":%s,"count":1}', random()));
  return made;
end
$$;

revoke execute on function svc_private.add_job(text, json, timestamptz, integer, text) from svc_system;

comment on function svc_private.add_job(text, json, timestamptz, integer, text) is
  'Puts a job into the queue, or replaces the one with the same key, and returns its id.';
