-- Restores a job's attempts and runs it now: for a job that is dead, or whose next attempt is hours away. Called by
-- svc_private.act_retry_job. A running job is not changed. SECURITY DEFINER for the notification.

create or replace function svc_private.retry_job(job_id bigint)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  update graphile_worker._private_jobs j
     set attempts = 0, flags = j.flags - '{deaths,outages,left_by}'::text[], run_at = now(), updated_at = now()
   where j.id = retry_job.job_id and j.locked_at is null;
  if found then
    perform pg_notify('jobs:insert', '{"count":1}');
    return true;
  end if;
  return false;
end
$$;

comment on function svc_private.retry_job(bigint) is
  'Makes a job due now, with all its attempts; false if there is none with this id, or it is running. '
  'Definer: svc_system may not notify the queue.';
