-- Marks a worker as alive: takes a lock that ends with this connection, and so the moment its process dies. Called by
-- workers/worker-lock.ts on a separate connection, when a worker begins and whenever that connection was opened again.
--
-- The key is a pair of numbers: the first is svc's, the second a hash of the worker's id. The call waits while
-- svc_private.rescue_workers() checks this worker.

create or replace function svc_private.hold_worker(worker text)
returns void
language sql
volatile
set search_path = ''
as $$
  select pg_catalog.pg_advisory_lock(726502186, pg_catalog.hashtext(worker))
$$;

comment on function svc_private.hold_worker(text) is
  'Holds the lock that marks this worker as alive, until this session ends.';
