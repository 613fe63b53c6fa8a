-- The name of the index that svc_private.install_search() makes for the nearest rows by a vector column.
--
-- PostgreSQL cuts a name after 63 bytes. A hash keeps names apart that begin alike.

create or replace function svc_private.nearest_index(relation regclass, embedding text)
returns text
language sql
stable
set search_path = ''
as $$
  select case when octet_length(n.name) <= 50 then n.name else left(n.name, 8) || '_' || left(md5(n.name), 12) end || '_nearest'
    from pg_catalog.pg_class c cross join lateral format('%s_%s', c.relname, embedding) as n (name)
   where c.oid = relation
$$;

revoke execute on function svc_private.nearest_index(regclass, text) from svc_system;

comment on function svc_private.nearest_index(regclass, text) is 'The name of the HNSW index of a vector column.';
