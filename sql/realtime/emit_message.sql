-- Puts a message for subscribers into the write-ahead log, as a part of the caller's transaction: it is delivered when
-- that commits, in commit order, to every process, and never when it rolls back. Called by ctx.realtime
-- (src/realtime/context.ts).
--
-- SECURITY DEFINER, since no request may call pg_logical_emit_message() itself (sql/grants.sql): it could speak for
-- somebody else's reader. Here the prefix is fixed and the size capped. A query cannot speak: its transaction is read
-- only, and what it says would be said again whenever it is repeated.
--
-- Executable by the requests' login alone, never by its roles: see svc.enqueue_job. What is said reaches the screens of
-- others, and which of them may be told is decided before it comes here.

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
      using errcode = 'SV413', hint = 'Send what changed, and let subscribers ask for the rest.';
  end if;
  perform pg_catalog.pg_logical_emit_message(true, 'svc', message::text);
end
$$;

grant execute on function svc.emit_message(jsonb) to svc_request;
revoke execute on function svc.emit_message(jsonb) from svc_anonymous, svc_authenticated;  -- they had it once

comment on function svc.emit_message(jsonb) is
  'Sends a message to subscribers when the transaction commits. At most 65536 bytes; refused in read-only transactions. '
  'Definer: only svc_owner may write messages into the log; prefix and size are fixed.';
