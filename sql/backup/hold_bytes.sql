-- Begins a backup: from now on the bytes of deleted files are kept, so that every file of the following snapshot can
-- still be copied. Called by src/backup/take.ts before the snapshot, on a separate connection, directly and not through
-- a pooler. Ends with that connection.
--
-- Two backups at once wait for each other, as long as lock_timeout allows.

create or replace function svc_private.hold_bytes()
returns void
language sql
volatile
set search_path = ''
as $$
  select pg_catalog.pg_advisory_lock(726502187, 0)
$$;

comment on function svc_private.hold_bytes() is
  'Prevents removal of the bytes of deleted files until this session ends.';
