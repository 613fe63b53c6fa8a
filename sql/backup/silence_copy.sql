-- Makes a restored database a copy for tests: no job, workflow or webhook of the original runs in it. Called by
-- src/backup/restore.ts (svc db restore --as-copy) as the last statement of the transaction that restores. So no worker sees what was
-- waiting, nor what triggers have added while the SQL of --sql ran.
--
-- Endpoints are rows of the application. They are switched off: otherwise each change in the copy would be told to customers. They come
-- first and the queue last, because triggers on these tables may add jobs.

create or replace function svc_private.silence_copy()
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  endpoints text;
begin
  for endpoints in
    select distinct w.declared -> 'endpoints' ->> 'table'
      from svc_private.list_webhooks() w
     where to_regclass(w.declared -> 'endpoints' ->> 'table') is not null  -- it may have been dropped
  loop
    execute format('update %s set enabled = false where enabled', endpoints);
  end loop;
  delete from auth.session;
  update svc_private.crons set paused_at = coalesce(paused_at, now());
  update svc.workflow_runs
     set status = 'cancelled', wait_marker = null, wake_at = null, error_detail = 'The database is a copy.',
         finished_at = now(), updated_at = now()
   where status in ('pending', 'running');
  perform svc_private.end_transcription(t.id, 'failed', null, 'The database is a copy.', null)
     from svc.ai_transcriptions t where t.status = 'pending';
  update svc.webhook_deliveries
     set state = 'dead', ended_at = now(), last_error = 'The database is a copy.'
   where state = 'pending';
  delete from graphile_worker._private_jobs;
end
$$;

revoke execute on function svc_private.silence_copy() from svc_system;

comment on function svc_private.silence_copy() is
  'Ends what waits to be run or sent in a restored copy: sessions, jobs, runs, transcriptions, deliveries; pauses crons, switches '
  'endpoints off.';
