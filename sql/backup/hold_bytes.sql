-- Begins a backup: from now on the bytes of deleted files stay, so that every file of the snapshot that is taken next can
-- still be copied. Called by src/backup/take.ts on a connection of its own, directly and not through a pooler, before the
-- snapshot; ends with that connection.
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

comment on function svc_private.hold_bytes() is 'Keeps the bytes of deleted files until this session ends.';
