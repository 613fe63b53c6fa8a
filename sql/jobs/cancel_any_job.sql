-- Removes a job that is not running from the queue, of any owner. Called by svc_private.act_cancel_job, and by
-- ctx.scheduler.cancel in code that runs as the system.
--
-- A job whose worker has died does not count as running, even before another worker has returned it to the queue:
-- otherwise a job that kills every worker could never be cancelled. The lock is svc_private.hold_worker's.
--
-- The job of a workflow run cancels the run: without its job the run would never continue. The run's row is locked first, as
-- by every function in sql/workflows/. A transcription whose job is removed has failed: its page would wait for ever.

create or replace function svc_private.cancel_any_job(job_id bigint)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  run text;
  gone record;
begin
  select substr(j.key, 10) into run from graphile_worker._private_jobs j
   where j.id = cancel_any_job.job_id and j.key like 'workflow:%'
     and (j.locked_at is null or pg_try_advisory_xact_lock(726502186, hashtext(j.locked_by)));
  if run is not null then
    perform svc_private.cancel_any_workflow(run::uuid);
  end if;
  delete from graphile_worker._private_jobs j
   using graphile_worker._private_tasks t
   where j.id = cancel_any_job.job_id and t.id = j.task_id
     and case when j.locked_at is null then true else pg_try_advisory_xact_lock(726502186, hashtext(j.locked_by)) end
  returning t.identifier, j.payload ->> 'id' as id into gone;
  if gone.identifier = 'transcribe' then
    perform svc_private.end_transcription(gone.id::uuid, 'failed', null, 'It was cancelled.', null);
  end if;
  return gone.identifier is not null or run is not null;
end
$$;

comment on function svc_private.cancel_any_job(bigint) is
  'Removes a job that is not running, and ends the run or transcription that it belongs to; false if there is none. '
  'Definer: svc_system has no rights on the queue''s tables.';
