-- The name of the index that svc_private.install_search() makes for the nearest rows by a vector column.

create or replace function svc_private.nearest_index(relation regclass, embedding text)
returns text
language sql
stable
set search_path = ''
as $$
  select left(format('%s_%s', c.relname, embedding), 50) || '_nearest' from pg_catalog.pg_class c where c.oid = relation
$$;

revoke execute on function svc_private.nearest_index(regclass, text) from svc_system;

comment on function svc_private.nearest_index(regclass, text) is 'The name of the HNSW index of a vector column.';
