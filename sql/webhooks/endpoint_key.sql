-- What the deliveries of a row of endpoints are found by: the table as they name it, and SQL of the key of a row e, whose text is
-- in $1. Part of svc_hidden.row_deliveries_as_authenticated(), svc_hidden.retry_delivery_as_authenticated(),
-- svc_private.find_endpoint() and svc_private.is_owned_by(). It reads no row.

create or replace function svc_private.endpoint_key(relation regclass)
returns table (source text, key text, condition text)
language sql
stable
set search_path = ''
as $$
  -- As src/contract/webhook.ts quotes it: always.
  select format('"%s"."%s"', replace(n.nspname, '"', '""'), replace(c.relname, '"', '""')),
         format('e.%I::text', a.attname),
         format('e.%I %s $1::%s', a.attname, svc_private.equality(a.atttypid), format_type(a.atttypid, -1)) -- null would be char(1)
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_index i on i.indrelid = c.oid and i.indisprimary and i.indnkeyatts = 1
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
   where c.oid = relation
$$;

comment on function svc_private.endpoint_key(regclass) is
  'A table of endpoints as deliveries name it, and SQL of its key; no row for a table without a primary key of one column.';

grant execute on function svc_private.endpoint_key(regclass) to svc_reader_authenticated;
