-- Whether realtime can read the log: used and available slots and senders, and the log that slots hold, in one row, for
-- `svc doctor`. Slots and senders belong to the whole server, so those of other databases count too.

create or replace function svc_private.replication_state()
returns table (
  wal_level text,
  slots int,
  slot_limit int,
  senders int,
  sender_limit int,
  keep_bytes bigint,
  held jsonb
)
language sql
stable
set search_path = ''
as $$
  select current_setting('wal_level'),
         (select count(*)::int from pg_catalog.pg_replication_slots),
         current_setting('max_replication_slots')::int,
         (select count(*)::int from pg_catalog.pg_stat_replication),
         current_setting('max_wal_senders')::int,
         -- In MiB; -1 is "without limit".
         (select nullif(s.setting, '-1')::bigint * 1048576 from pg_catalog.pg_settings s where s.name = 'max_slot_wal_keep_size'),
         -- A slot that lost its log has no position any more.
         (select coalesce(jsonb_agg(jsonb_build_object(
                   'name', r.slot_name,
                   'active', r.active,
                   'status', r.wal_status,
                   'bytes', coalesce(pg_catalog.pg_wal_lsn_diff(p.now, r.restart_lsn), 0)) order by r.slot_name), '[]')
            from pg_catalog.pg_replication_slots r,
                 (select case when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_receive_lsn()
                              else pg_catalog.pg_current_wal_lsn() end as now) p)
$$;

comment on function svc_private.replication_state() is
  'Replication slots and senders in use and their limits, and the log that each slot retains; keep_bytes is null '
  'without a limit.';
