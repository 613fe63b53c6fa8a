-- Two indexes over the same columns slow down every write, and one of them is enough for every read. The one that a constraint,
-- replication or uniqueness needs is kept, and a valid one rather than an invalid one.

create or replace view svc_private.lint_duplicate_index as
select 'warning' as severity, 'pg_catalog.pg_class'::regclass as catalog, d.indexes[1] as object, 0 as part,
       d.indexes[1]::regclass::text as name,
       format('duplicates %s', d.indexes[cardinality(d.indexes)]::regclass) as problem,
       format('drop index %s%s;', case when d.is_partitioned then '' else 'concurrently ' end, d.indexes[1]::regclass) as remedy
  from (
    -- The least needed first.
    select array_agg(i.indexrelid order by n.is_constraint, i.indisvalid, i.indisreplident, i.indisunique, i.indnullsnotdistinct, i.indexrelid desc)
             as indexes,
           bool_and(n.is_constraint) as are_constraints, bool_or(r.kind = 'p') as is_partitioned
      from pg_catalog.pg_index i
      join svc_private.relations r on r.oid = i.indrelid
     cross join lateral (
       select exists (select from pg_catalog.pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
     ) as n (is_constraint)
     group by i.indrelid, i.indkey::text, i.indclass::text, i.indoption::text, i.indcollation::text,
              coalesce(pg_catalog.pg_get_expr(i.indexprs, i.indrelid), ''), coalesce(pg_catalog.pg_get_expr(i.indpred, i.indrelid), ''),
              (select c.relam from pg_catalog.pg_class c where c.oid = i.indexrelid)
  ) as d
 where cardinality(d.indexes) > 1 and not d.are_constraints;

comment on view svc_private.lint_duplicate_index is 'Indexes of one table over the same columns in the same order.';
