-- A failed CREATE INDEX CONCURRENTLY leaves an index that every write maintains and no read uses.

create or replace view svc_private.lint_invalid_index as
select 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, i.indexrelid as object, 0 as part,
       i.indexrelid::regclass::text as name,
       case when r.kind = 'p' then 'is invalid: a partition lacks it' else 'is invalid: its build failed' end as problem,
       case when r.kind = 'p' then format('Create it on each partition that lacks it, then: alter index %s attach partition …;', i.indexrelid::regclass)
            else format('reindex index concurrently %s; or drop it.', i.indexrelid::regclass) end as remedy
  from pg_catalog.pg_index i
  join svc_private.relations r on r.oid = i.indrelid
 where not i.indisvalid;

comment on view svc_private.lint_invalid_index is 'Indexes whose build failed.';
