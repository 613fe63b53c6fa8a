-- Removes a job that has not begun from the queue, if it is the caller's own. Ids of other users' jobs get the same
-- answer as ids that do not exist. Called by ctx.scheduler.cancel. Executable by the same roles as svc.enqueue_job, for
-- the same reason.

create or replace function svc.cancel_job(job_id bigint)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if current_setting('transaction_read_only')::boolean then
    raise exception 'a query cannot cancel' using errcode = '25006';
  end if;
  -- Without a user nothing matches: anonymous callers own no jobs.
  delete from graphile_worker._private_jobs j
   where j.id = cancel_job.job_id and j.locked_at is null
     and j.payload #>> '{caller,userId}' = svc.current_user_id();
  return found;
end
$$;

grant execute on function svc.cancel_job(bigint) to svc_request;
revoke execute on function svc.cancel_job(bigint) from svc_system;

comment on function svc.cancel_job(bigint) is
  'Removes a job of the current user that has not begun; false if there is none with this id. '
  'Definer: requests have no rights on the queue''s tables; it removes only jobs of the transaction''s user.';
