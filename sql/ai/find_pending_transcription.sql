-- A transcription that has not ended, with its recording. Called by the worker (workers/tasks/transcribe.ts) as
-- svc_system.

create or replace function svc_private.find_pending_transcription(transcription_id uuid)
returns table (user_id text, model text, bytes_id uuid, size double precision, type text)
language sql
stable
rows 1
set search_path = ''
as $$
  select t.user_id, t.model, coalesce(o.bytes_id, o.id), o.size::double precision, o.type
    from svc.ai_transcriptions t
    join svc.storage_objects o on o.id = t.storage_id
   where t.id = transcription_id and t.status = 'pending'
$$;

comment on function svc_private.find_pending_transcription(uuid) is
  'A transcription that has not ended, with its recording; no row if it has ended or was deleted.';
