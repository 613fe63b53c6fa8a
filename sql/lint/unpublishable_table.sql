-- PostgreSQL refuses updates and deletes of a published table that has neither a primary key nor another replica identity.
-- From 18 on also if the identity has a generated column that the publication leaves out.

create or replace view svc_private.lint_unpublishable_table as
select distinct on (r.oid) 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       concat('is published by ', quote_ident(p.pubname),
         case when g.id is null then ' without a replica identity'
              else format(', which leaves out the generated column %I of its replica identity', g.column_name) end,
         ': updates and deletes fail') collate "default" as problem,
       case when r.is_platform then 'Publish tables or schemas of your own instead.'
            when g.id is null then format('alter table %s replica identity full; or give it a primary key.', r.name)
            when g.is_virtual then 'Make the column STORED, or take the table out of the publication.'
            when p.pubname = 'svc' then 'Run `svc migrate --again`.'
            else format('alter publication %I set (publish_generated_columns = stored);', p.pubname) end as remedy
  from pg_catalog.pg_publication p
  join pg_catalog.pg_publication_tables t on t.pubname = p.pubname
  join svc_private.relations r on r.schema = t.schemaname and r.relation = t.tablename
  join pg_catalog.pg_class c on c.oid = r.oid
  left join svc_private.generated_identities g
    on g.id = r.oid and g.column_name <> all (t.attnames) and current_setting('server_version_num')::int >= 180000
 where (p.pubupdate or p.pubdelete)
   and (g.id is not null or c.relreplident = 'n'
        or c.relreplident = 'd' and not exists (select from pg_catalog.pg_index i where i.indrelid = r.oid and i.indisprimary))
 order by r.oid, g.is_virtual desc nulls last;

comment on view svc_private.lint_unpublishable_table is 'Published tables whose replica identity refuses updates and deletes.';
