-- Lets a trace go with the transaction: what is enqueued in it carries the trace (svc_private.current_trace), and the
-- write-ahead log says to readers whose doing it was. Called where a writing transaction of a traced call begins
-- (src/postgres/transaction.ts, src/crud/statement.ts), and never while tracing is off.
--
-- SECURITY DEFINER for the message. The login alone and the system may execute it, not the roles of requests: no SQL inside
-- a request can put its changes down to somebody else's trace. SET rather than set_config(), which is closed to the owner
-- (sql/grants.sql); it ends with the transaction.

create or replace function svc.carry_trace(traceparent text)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if traceparent !~ '^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$' then
    return '';
  end if;
  execute format('set local svc.traceparent = %L', traceparent);
  perform pg_catalog.pg_logical_emit_message(true, 'svc_trace', traceparent);
  return traceparent;
end
$$;

grant execute on function svc.carry_trace(text) to svc_request;

comment on function svc.carry_trace(text) is
  'Marks the transaction with a W3C traceparent, for the jobs it enqueues and the readers of its changes. '
  'Definer: only svc_owner may write messages into the log; the prefix is fixed.';
