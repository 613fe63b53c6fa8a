-- Stores the result of a transcription, once: a later call changes nothing. Called by the worker
-- (workers/tasks/transcribe.ts) as svc_system, and by svc_private.complete_transcription().

create or replace function svc_private.end_transcription(
  transcription_id uuid, status text, text text, error text, credits_charged numeric
)
returns void
language sql
volatile
set search_path = ''
as $$
  update svc.ai_transcriptions t
     set status = end_transcription.status, text = end_transcription.text, error = end_transcription.error,
         credits_charged = end_transcription.credits_charged, finished_at = now()
   where t.id = transcription_id and t.status = 'pending'
$$;

comment on function svc_private.end_transcription(uuid, text, text, text, numeric) is
  'Ends a pending transcription with a text or an error.';
