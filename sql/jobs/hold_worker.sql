-- Says that a worker lives: takes a lock that ends with this connection, and so the moment its process dies. Called by
-- workers/rescue.ts on a connection of its own, when a worker begins and whenever that connection had to be made anew.
--
-- The key is a pair of numbers: the first is svc's, the second made of the worker's id. Waits while
-- svc_private.rescue_workers() is looking at this worker.

create or replace function svc_private.hold_worker(worker text)
returns void
language sql
volatile
set search_path = ''
as $$
  select pg_catalog.pg_advisory_lock(726502186, pg_catalog.hashtext(worker))
$$;

comment on function svc_private.hold_worker(text) is 'Holds the lock that says that this worker lives, until this session ends.';
