-- The tables with their sizes, dead rows, last vacuum and analyze, and kinds of scans. The numbers of rows are
-- PostgreSQL's estimates; the others are counted since the last reset of the statistics (svc_private.ops_database).

create or replace view svc_private.ops_tables as
select r.name, greatest(c.reltuples, 0)::bigint as rows,
       pg_catalog.pg_total_relation_size(c.oid) as total_bytes, pg_catalog.pg_indexes_size(c.oid) as index_bytes,
       s.n_dead_tup as dead_rows,
       round(100.0 * s.n_dead_tup / nullif(s.n_dead_tup + s.n_live_tup, 0), 1) as dead_percent,
       greatest(s.last_vacuum, s.last_autovacuum) as last_vacuum,
       greatest(s.last_analyze, s.last_autoanalyze) as last_analyze,
       s.seq_scan as scans_whole, s.idx_scan as scans_by_index,
       round(s.seq_tup_read::numeric / nullif(s.seq_scan, 0)) as rows_each_scan,
       round(100.0 * io.heap_blks_hit / nullif(io.heap_blks_hit + io.heap_blks_read, 0), 1) as hit_percent
  from svc_private.relations r
  join pg_catalog.pg_class c on c.oid = r.oid
  join pg_catalog.pg_stat_user_tables s on s.relid = r.oid
  join pg_catalog.pg_statio_user_tables io on io.relid = r.oid
 where r.kind in ('r', 'm')
 order by total_bytes desc, r.name;

comment on view svc_private.ops_tables is 'Tables by size, with dead rows, vacuum, scans and the share found in memory.';
