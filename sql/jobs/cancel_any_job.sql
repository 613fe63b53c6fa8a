-- Takes a job that is not running out of the queue, whoever it belongs to. Called by `svc jobs cancel`, and by
-- ctx.scheduler.cancel in what runs as the system.

create or replace function svc_private.cancel_any_job(job_id bigint)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  delete from graphile_worker._private_jobs j where j.id = cancel_any_job.job_id and j.locked_at is null;
  return found;
end
$$;

comment on function svc_private.cancel_any_job(bigint) is 'Removes a job that is not running; false when there is none.';
