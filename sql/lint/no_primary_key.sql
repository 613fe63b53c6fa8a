-- Rows without a primary key cannot be identified. Generated calls, realtime and replication of changes need one.

create or replace view svc_private.lint_no_primary_key as
select 'warning' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       'has no primary key' as problem, 'Add one: an id, or the columns that name a row.' as remedy
  from svc_private.relations r
 where r.kind in ('r', 'p') and not r.is_platform
   and not exists (select from pg_catalog.pg_constraint k where k.conrelid = r.oid and k.contype = 'p');

comment on view svc_private.lint_no_primary_key is 'The application''s tables without a primary key.';
