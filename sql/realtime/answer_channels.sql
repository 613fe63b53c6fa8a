-- The answer of a process to svc_private.studio_ask_channels(). Called by src/server/realtime-calls.ts, as svc_system. The question
-- is random, and part of the notification's channel: only who has asked can listen to it.
--
-- SECURITY DEFINER, because no other role may call pg_notify() (sql/grants.sql). The prefix of the channel is fixed.

create or replace function svc_private.answer_channels(question uuid, answer text)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  select pg_catalog.pg_notify('svc_studio_' || question, answer)
$$;

comment on function svc_private.answer_channels(uuid, text) is
  'Tells Studio which channels are open in a process. '
  'Definer: only svc_owner may notify; the prefix of the channel is fixed.';
