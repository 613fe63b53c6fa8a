-- Whether bytes whose row is deleted may be removed now. Called as svc_system by the code that removes them
-- (src/storage/), after the transaction that deleted the row has committed.
--
-- False while a backup runs: the sweep removes such bytes later. The lock need not be held while removing: a backup
-- that begins after this answer takes its snapshot after that commit, and the row is not in it.

create or replace function svc_private.may_remove_bytes()
returns boolean
language sql
volatile
set search_path = ''
as $$
  select pg_catalog.pg_try_advisory_xact_lock_shared(726502187, 0)
$$;

comment on function svc_private.may_remove_bytes() is 'Whether no backup needs the bytes of files that were deleted.';
