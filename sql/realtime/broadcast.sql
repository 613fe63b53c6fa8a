-- Puts what members of channels say into the write-ahead log, for all processes; nothing is stored. Called by
-- src/realtime/channel-outbox.ts, as svc_system, with what a process has collected since its last call.
--
-- From 17 on the message is written outside of the transaction and flushed: it uses no transaction id, and it does not
-- wait for standbys. Before 17 nothing would flush it, and readers of the log would wait up to wal_writer_delay for it. There
-- the statement is a transaction that only flushes the log of this server.
--
-- SECURITY DEFINER, because no other role may call pg_logical_emit_message() (sql/grants.sql). Here the prefix is fixed and
-- the size limited. The call is dynamic, because the argument `flush` is missing before 17.

create or replace function svc_private.broadcast(messages text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if octet_length(messages) > 262144 then
    raise exception 'messages of % bytes are larger than 262144', octet_length(messages) using errcode = 'SV413';
  end if;
  if current_setting('server_version_num')::int >= 170000 then
    execute 'select pg_catalog.pg_logical_emit_message(false, ''svc_channel'', $1, true)' using messages;
  else
    perform pg_catalog.pg_logical_emit_message(true, 'svc_channel', messages);
    set local synchronous_commit = local;
  end if;
end
$$;

comment on function svc_private.broadcast(text) is
  'Sends messages of channels to all processes, as JSON of at most 262144 bytes. '
  'Definer: only svc_owner may write messages into the log; prefix and size are fixed.';
