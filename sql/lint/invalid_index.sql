-- A failed CREATE INDEX CONCURRENTLY leaves an index that every write maintains and no read uses.

create or replace view svc_private.lint_invalid_index as
select 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, i.indexrelid as object, 0 as part,
       i.indexrelid::regclass::text as name, 'is invalid: its build failed' as problem,
       format('reindex index concurrently %s; or drop it.', i.indexrelid::regclass) as remedy
  from pg_catalog.pg_index i
  join svc_private.relations r on r.oid = i.indrelid
 where not i.indisvalid;

comment on view svc_private.lint_invalid_index is 'Indexes whose build failed.';
