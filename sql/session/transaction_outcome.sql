-- The outcome of a transaction whose connection was lost during COMMIT. Called on another connection
-- (src/postgres/outcome.ts), so that a committed mutation is not answered as a failed one.
--
-- Only the login may execute it: SQL of a request does not need it.
--
-- @param transaction pg_current_xact_id() of the transaction
-- @param server      svc.server_incarnation() as it began
-- @param place       pg_current_wal_insert_lsn() just before its COMMIT; null when that answer was lost
-- @returns 'committed', 'aborted', 'in progress', or null when the server cannot know

create or replace function svc.transaction_outcome(transaction xid8, server text, place pg_lsn)
returns text
language plpgsql
volatile
set search_path = ''
as $$
declare
  status text;
  recovered pg_lsn := pg_catalog.pg_last_wal_replay_lsn();
begin
  -- A standby that is not promoted yet may still receive the COMMIT: ask again.
  if pg_catalog.pg_is_in_recovery() then
    return 'in progress';
  end if;
  begin
    status := pg_catalog.pg_xact_status(transaction);
  exception when invalid_parameter_value then
    -- "is in the future": the server has recovered without anything of this transaction.
    return 'aborted';
  end;
  -- Only a commit can be another transaction's under the same id: what is not committed is not there.
  if server = svc.server_incarnation() or status is distinct from 'committed' then
    return status;
  end if;
  -- The server crashed, or another one took over. COMMIT was written behind `place`: when recovery did not come so far,
  -- it is lost, and so may be the id. When it did, what the transaction wrote first is there, and the id is its own.
  if recovered is null or place is null then
    return null;
  end if;
  return case when recovered < place then 'aborted' else 'committed' end;
end
$$;

comment on function svc.transaction_outcome(xid8, text, pg_lsn) is
  'The outcome of a transaction whose connection was lost during COMMIT: committed, aborted, in progress, or null.';

grant execute on function svc.transaction_outcome(xid8, text, pg_lsn) to svc_request;
