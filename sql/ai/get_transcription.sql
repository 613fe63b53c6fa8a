-- A transcription that the caller may see. Called by ai.speech (src/ai/speech.ts).

create or replace function svc.get_transcription(transcription_id uuid)
returns table (id uuid, status text, text text, error text, model text)
language sql
stable
rows 1
set search_path = ''
as $$
  select t.id, t.status, t.text, t.error, t.model from svc.ai_transcriptions t where t.id = transcription_id
$$;

grant execute on function svc.get_transcription(uuid) to svc_authenticated;

comment on function svc.get_transcription(uuid) is 'A transcription that the caller may see; no row otherwise.';
