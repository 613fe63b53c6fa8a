-- Replication slots of the server, with their readers, and how much of the log is kept for each. A slot that nobody
-- reads keeps the log until the disk is full, or until max_slot_wal_keep_size invalidates it. svc's own are temporary
-- and named svc_….

create or replace view svc_private.ops_slots as
select s.slot_name::text as name, s.slot_type as kind, s.database::text as database, s.temporary, s.active,
       a.application_name as reader, s.wal_status as log,
       pg_catalog.pg_wal_lsn_diff(
         case when pg_catalog.pg_is_in_recovery() then pg_catalog.pg_last_wal_receive_lsn()
              else pg_catalog.pg_current_wal_lsn() end, s.restart_lsn)::bigint as held_bytes
  from pg_catalog.pg_replication_slots s
  left join pg_catalog.pg_stat_activity a on a.pid = s.active_pid
 order by held_bytes desc nulls last;

comment on view svc_private.ops_slots is 'Replication slots, whether they are in use, and the log that each retains.';
