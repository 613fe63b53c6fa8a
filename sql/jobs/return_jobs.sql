-- Returns the jobs that a worker holds to the queue, as if they had not begun: for a worker that stops while its jobs
-- do not end in time. Called by workers/runner.ts. Unlike a rescue this uses up no attempt.

create or replace function svc_private.return_jobs(worker text)
returns integer
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  returned integer;
begin
  perform svc_private.remove_replaced_jobs(return_jobs.worker);
  update graphile_worker._private_jobs j
     set attempts = greatest(0, j.attempts - 1), locked_at = null, locked_by = null
   where j.locked_by = return_jobs.worker;
  get diagnostics returned = row_count;
  update graphile_worker._private_job_queues q
     set locked_at = null, locked_by = null
   where q.locked_by = return_jobs.worker;
  if returned > 0 then
    perform pg_notify('jobs:insert', format('{"count":%s}', returned));
  end if;
  return returned;
end
$$;

comment on function svc_private.return_jobs(text) is
  'Returns the jobs that a worker holds to the queue; returns their number. '
  'Definer: svc_system has no rights on the queue''s tables, and may not notify.';
