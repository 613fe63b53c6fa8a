-- Identifies the current run of the server. It changes when the server starts, and when it has recovered from a crash
-- or was promoted: then the server may reuse a transaction id that was not yet on disk.
--
-- Called when a writing transaction begins (src/postgres/transaction-statements.ts), and compared by
-- svc.transaction_outcome(). No `set search_path`: it would prevent inlining, and every mutation calls this. Volatile for
-- the same reason: PostgreSQL does not inline a function that promises more than pg_last_wal_replay_lsn(), which is
-- volatile.

create or replace function svc.server_incarnation()
returns text
language sql
volatile
as $$
  -- A crash of one backend restarts all others under the same postmaster: its start time stays, but the place that
  -- recovery reached is another one. It is null after a clean start.
  select extract(epoch from pg_catalog.pg_postmaster_start_time())::text
    || '/' || coalesce(pg_catalog.pg_last_wal_replay_lsn()::text, '')
$$;

comment on function svc.server_incarnation() is
  'Start time of the server and the end of its last recovery: while it stays the same, no transaction id is reused. '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';

grant execute on function svc.server_incarnation() to svc_request;
