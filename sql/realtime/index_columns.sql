-- The columns of an index that can be a table's replica identity; none where it is partial, over expressions or not valid.
-- Called by svc_private.publish_tables() and svc_private.drop_identity().

create or replace function svc_private.index_columns(index oid)
returns text[]
language sql
stable
set search_path = ''
as $$
  select coalesce(array_agg(a.attname::text), '{}')
    from pg_catalog.pg_index i
   cross join lateral unnest(i.indkey::smallint[]) with ordinality as k (number, place)
    join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number
   where i.indexrelid = index_columns.index and k.place <= i.indnkeyatts
     and i.indisunique and i.indisvalid and i.indimmediate and i.indpred is null and i.indexprs is null
$$;

revoke execute on function svc_private.index_columns(oid) from svc_system;

comment on function svc_private.index_columns(oid) is 'The columns of an index that may be a replica identity.';
