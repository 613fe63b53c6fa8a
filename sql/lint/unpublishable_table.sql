-- A published table without a primary key or another replica identity rejects every update and delete.

create or replace view svc_private.lint_unpublishable_table as
select distinct on (r.oid) 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       'is published for realtime without a replica identity: updates and deletes fail' as problem,
       format('alter table %s replica identity full; or give it a primary key.', r.name) as remedy
  from svc_private.relations r
  join pg_catalog.pg_publication_rel pr on pr.prrelid = r.oid
  join pg_catalog.pg_class c on c.oid = r.oid
 where c.relreplident = 'n'
    or c.relreplident = 'd'
   and not exists (select from pg_catalog.pg_index i where i.indrelid = r.oid and i.indisprimary);

comment on view svc_private.lint_unpublishable_table is 'Published tables without a usable replica identity.';
