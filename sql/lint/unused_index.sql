-- No query has used this index since the statistics began, and every write maintains it. Only indexes of more than
-- 1,000 pages are reported: smaller ones cost too little.

create or replace view svc_private.lint_unused_index as
select 'info' as severity, 'pg_catalog.pg_class'::regclass as catalog, i.indexrelid as object, 0 as part,
       i.indexrelid::regclass::text as name,
       format('was never used since the statistics began; it takes %s', pg_catalog.pg_size_pretty(pg_catalog.pg_relation_size(i.indexrelid)))
         as problem,
       format('drop index concurrently %s; once you have seen a whole month.', i.indexrelid::regclass) as remedy
  from pg_catalog.pg_index i
  join svc_private.relations r on r.oid = i.indrelid
  join pg_catalog.pg_class c on c.oid = i.indexrelid and c.relpages > 1000
   and not c.relispartition -- it cannot be dropped alone
  join pg_catalog.pg_stat_user_indexes s on s.indexrelid = i.indexrelid
 where s.idx_scan = 0 and not i.indisunique and not r.is_platform;

comment on view svc_private.lint_unused_index is 'Large indexes of the application that no query has used.';
