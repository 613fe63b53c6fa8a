-- Puts a message for subscribers into the write-ahead log, in the caller's transaction. It is delivered when that
-- commits, in commit order, to every process, and never when it rolls back. Called by ctx.realtime
-- (src/realtime/context.ts).
--
-- SECURITY DEFINER, because no request may call pg_logical_emit_message() itself (sql/grants.sql): it could write
-- messages for other readers of the log. Here the prefix is fixed and the size limited. A query cannot send: its
-- transaction is read only, and a repeated query would send the message again.
--
-- Of the request side only the login may execute it, never the request roles: see svc.enqueue_job. Other users receive
-- the message; the caller of this function has decided before which of them may.

create or replace function svc.emit_message(message jsonb)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if current_setting('transaction_read_only')::boolean then
    raise exception 'a query cannot send messages' using errcode = '25006';
  end if;
  if octet_length(message::text) > 65536 then
    raise exception 'a message of % bytes is larger than 65536', octet_length(message::text)
      using errcode = 'SV413', hint = 'Send only the change, and let subscribers query the rest.';
  end if;
  perform pg_catalog.pg_logical_emit_message(true, 'svc', message::text);
end
$$;

grant execute on function svc.emit_message(jsonb) to svc_request;
revoke execute on function svc.emit_message(jsonb) from svc_anonymous, svc_authenticated;  -- they had it once

comment on function svc.emit_message(jsonb) is
  'Sends a message to subscribers when the transaction commits. At most 65536 bytes; refused in read-only transactions. '
  'Definer: only svc_owner may write messages into the log; prefix and size are fixed.';
