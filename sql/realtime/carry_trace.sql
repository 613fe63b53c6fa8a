-- Marks the transaction with a trace: jobs enqueued in it carry the trace (svc_private.current_trace), and readers of
-- the write-ahead log see which call made the changes. Called where a writing transaction of a traced call begins
-- (src/postgres/transaction-statements.ts, src/crud/statement.ts), and never while tracing is off.
--
-- SECURITY DEFINER for the message. Only the login and the system may execute it, not the roles of requests: SQL inside
-- a request must not attribute its changes to another trace. SET rather than set_config(), which is closed to the owner
-- (sql/grants.sql); the setting ends with the transaction.

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
