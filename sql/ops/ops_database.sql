-- The database in one row: connections, the share of reads that were answered from memory, errors, and how far the
-- oldest transaction id is from the end of its range (autovacuum handles it; past 1.5 billion an operator should
-- check).

create or replace view svc_private.ops_database as
select d.datname::text as name, pg_catalog.pg_database_size(d.datid) as bytes,
       (select count(*) from pg_catalog.pg_stat_activity a where a.backend_type = 'client backend')::integer as connections,
       current_setting('max_connections')::integer as connection_limit,
       round(100.0 * d.blks_hit / nullif(d.blks_hit + d.blks_read, 0), 2) as hit_percent,
       d.xact_commit as commits, d.xact_rollback as rollbacks, d.deadlocks, d.temp_files, d.temp_bytes,
       age(c.datfrozenxid) as oldest_transaction, d.stats_reset as statistics_since
  from pg_catalog.pg_stat_database d
  join pg_catalog.pg_database c on c.oid = d.datid
 where d.datname = current_database();

comment on view svc_private.ops_database is 'This database in one row: size, connections, reads from memory, rollbacks, deadlocks.';
