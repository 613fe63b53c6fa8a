-- Begins the transcription of a stored recording: inserts a row and enqueues its job, in the caller's transaction.
-- Called by ai.speech.transcribe (src/ai/speech.ts).
--
-- SECURITY DEFINER, because requests may not access the queue. It acts only for the transaction's user, and accepts
-- only recordings that the policies show to this user; the system may use any recording. Only the requests' login may
-- execute it, never its roles (see svc.enqueue_job): SQL that was injected into a request must not spend its user's
-- credits.

create or replace function svc.start_transcription(recording uuid, model text)
returns uuid
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  caller constant text := svc.current_user_id();
  transcription uuid;
begin
  if current_setting('transaction_read_only')::boolean then
    raise exception 'a query cannot enqueue' using errcode = '25006';
  end if;
  if caller is null and session_user <> 'svc_system' then
    raise exception 'a transcription needs a user' using errcode = '42501';
  end if;
  if not exists (select from svc_hidden.find_objects_as_authenticated(array[recording]))
    and not (caller is null and exists (select from svc.storage_objects o where o.id = recording)) then
    raise exception 'no such recording' using errcode = 'SV404';
  end if;
  insert into svc.ai_transcriptions (user_id, storage_id, model)
  values (caller, recording, start_transcription.model)
  returning id into transcription;
  -- The sixth attempt only reports that five workers died during the others (workers/tasks/transcribe.ts).
  perform graphile_worker.add_job(
    identifier => 'transcribe', max_attempts => 6,
    payload => json_strip_nulls(json_build_object('id', transcription, 'trace', svc_private.current_trace())));
  return transcription;
end
$$;

grant execute on function svc.start_transcription(uuid, text) to svc_request, svc_system;
revoke execute on function svc.start_transcription(uuid, text) from svc_authenticated;  -- an earlier version granted it

comment on function svc.start_transcription(uuid, text) is
  'Begins the transcription of a stored recording that the current user may see, and returns its id. '
  'Definer: requests have no rights on the queue''s tables; it acts only for the transaction''s user.';
