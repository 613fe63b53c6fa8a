-- Stores the text of a transcription and charges its user, once. Two workers may have the same job after one of them has lost
-- the database for a time: the second one waits for the first, finds nothing pending, and its reservation is released. A call whose
-- worker has lost the connection may still wait here when that worker releases its reservation: then it must not store the text.
-- Called by the worker (workers/tasks/transcribe.ts) as svc_system.

create or replace function svc_private.complete_transcription(
  transcription_id uuid, text text, reservation bigint, input_tokens integer
)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  its_model text;
  charged numeric;
begin
  -- The user before the transcription and the ledger, as the deletion of an account: otherwise the two could wait for each other.
  perform from auth."user" u
    where u.id = (select t.user_id from svc.ai_transcriptions t where t.id = transcription_id) for key share;
  select t.model into its_model
    from svc.ai_transcriptions t where t.id = transcription_id and t.status = 'pending' for update;
  if its_model is null then
    perform svc_private.release_credits(reservation);
    return;
  end if;
  charged := svc_private.settle_credits(reservation, svc_private.price_of(its_model, input_tokens, 0), input_tokens, 0);
  if charged is null then
    raise exception 'the reservation % has ended', reservation;
  end if;
  perform svc_private.end_transcription(transcription_id, 'completed', text, null, charged);
end
$$;

comment on function svc_private.complete_transcription(uuid, text, bigint, integer) is
  'Ends a pending transcription with its text and charges its user; releases the reservation if it has ended before.';
