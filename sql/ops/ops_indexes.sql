-- Indexes that may be missing, and those that may be superfluous. These are hints, not findings: a missing index shows
-- only after somebody has read the table, and a superfluous one may serve a monthly report. Indexes of constraints are
-- never reported as superfluous.

create or replace view svc_private.ops_indexes as
select 'missing' as what, r.name as table_name, null::text as index_name, pg_catalog.pg_table_size(r.oid) as bytes,
       format('read from end to end %s times, %s rows each', s.seq_scan, s.seq_tup_read / s.seq_scan) as reason
  from pg_catalog.pg_stat_user_tables s
  join svc_private.relations r on r.oid = s.relid
 where s.seq_scan > 50 and s.seq_tup_read / s.seq_scan > 10000 and s.seq_scan > coalesce(s.idx_scan, 0) / 10
union all
select 'unused', r.name, i.indexrelid::regclass::text, pg_catalog.pg_relation_size(i.indexrelid),
       'no query has used it since the statistics began'
  from pg_catalog.pg_index i
  join svc_private.relations r on r.oid = i.indrelid and not r.is_platform
  join pg_catalog.pg_stat_user_indexes s on s.indexrelid = i.indexrelid
 where s.idx_scan = 0 and not i.indisunique and not i.indisreplident and i.indisvalid
   and pg_catalog.pg_relation_size(i.indexrelid) > 1048576
union all
select 'invalid', i.indrelid::regclass::text, i.indexrelid::regclass::text, pg_catalog.pg_relation_size(i.indexrelid),
       'was not built to its end: drop it, and create it again'
  from pg_catalog.pg_index i
  join svc_private.relations r on r.oid = i.indrelid
 where not i.indisvalid
 order by 1, 4 desc;

comment on view svc_private.ops_indexes is 'Indexes that may be missing, unused ones of more than a MiB, and broken ones.';
