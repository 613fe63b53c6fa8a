-- The columns of one table, for Studio: types with their schemas, the place in the primary key, and which request roles
-- may select them. No row for a name that is not one of studio_tables().

create or replace function svc_private.studio_columns(one_table text)
returns table (name text, type text, key_place integer, is_null boolean, for_anonymous boolean, for_users boolean, says text)
language sql
stable
security definer
set search_path = ''
as $$
  select a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod),
         array_position(i.indkey::smallint[], a.attnum) - array_lower(i.indkey::smallint[], 1) + 1,
         not a.attnotnull,
         has_schema_privilege('svc_anonymous', r.schema, 'usage')
           and has_column_privilege('svc_anonymous', r.oid, a.attnum, 'select'),
         has_schema_privilege('svc_authenticated', r.schema, 'usage')
           and has_column_privilege('svc_authenticated', r.oid, a.attnum, 'select'),
         pg_catalog.col_description(r.oid, a.attnum)
    from svc_private.relations r
    join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
    left join pg_catalog.pg_index i on i.indrelid = r.oid and i.indisprimary
   where r.name = one_table and r.kind in ('r', 'p')
   order by a.attnum
$$;

comment on function svc_private.studio_columns(text) is
  'Columns of one table: type, place in the primary key from 1, and which request roles may select them. '
  'Definer: svc_studio_read may not read the views of svc_private.';

grant execute on function svc_private.studio_columns(text) to svc_studio_read;
