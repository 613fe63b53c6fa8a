-- Asks all processes with sockets which channels are open, for Studio: a message in the write-ahead log, as those of channels
-- (sql/realtime/broadcast.sql). Nothing is stored. Each answers by svc_private.answer_channels().

create or replace function svc_private.studio_ask_channels(question uuid)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  select svc_private.broadcast(json_build_array(json_build_object('question', question))::text)
$$;

comment on function svc_private.studio_ask_channels(uuid) is
  'Asks the processes which channels are open in them. '
  'Definer: svc_studio_read may not say anything else to the processes.';

grant execute on function svc_private.studio_ask_channels(uuid) to svc_studio_read;
