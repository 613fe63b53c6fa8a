-- Two indexes over the same columns slow down every write, and one of them is enough for every read.

create or replace view svc_private.lint_duplicate_index as
select 'warning' as severity, 'pg_catalog.pg_class'::regclass as catalog, max(i.indexrelid) as object, 0 as part,
       max(i.indexrelid)::regclass::text as name,
       format('duplicates %s', min(i.indexrelid)::regclass) as problem,
       format('drop index concurrently %s;', max(i.indexrelid)::regclass) as remedy
  from pg_catalog.pg_index i
  join svc_private.relations r on r.oid = i.indrelid
 where not exists (select from pg_catalog.pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
    or i.indisprimary
 group by i.indrelid, i.indkey::text, i.indclass::text, i.indoption::text, i.indcollation::text,
          coalesce(pg_catalog.pg_get_expr(i.indexprs, i.indrelid), ''), coalesce(pg_catalog.pg_get_expr(i.indpred, i.indrelid), ''),
          (select c.relam from pg_catalog.pg_class c where c.oid = i.indexrelid)
having count(*) > 1;

comment on view svc_private.lint_duplicate_index is 'Indexes of one table over the same columns in the same order.';
