-- The statement that answers lists of one shape: the same filters, operators, order, search and properties, with other
-- values. The service asks for its text once and keeps it as a prepared statement (src/crud/prepared-read.ts): PostgreSQL
-- parses it once for a connection, and plans it for the values of each call, as it does with svc.find_rows().
--
-- The text runs with the caller's identity and role, so the table's policies decide about every row and every row that
-- is counted. It takes
--
--   $1, $2     the number of rows of a page, and of those before it
--   $3 …       the text of the search, if there is one, then the values of the filters
--
-- or nothing: a first page without filters and search has its size in the text. PostgreSQL then keeps the plan, too. Nothing
-- in such a plan depends on a value: it reads the rows in their order until the page is full.
--
-- The argument is the description of the resource (see svc.find_rows) with one member more, `shape`:
--
--   orderBy, orderDir, select, include   of the caller, as svc.find_rows() takes them; no filters within include
--   search                               whether there is one
--   filters                              the conditions (svc_hidden.shape_sql)
--   limit                                the size of a page, where it is in the text
--   count                                'none' where the caller asks for no total. (Default: that of the resource)
--
-- Null for what a statement of this form cannot answer; then svc.find_rows() does.

create or replace function svc.list_statement(list jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  columns   constant jsonb := list -> 'columns';
  shape     constant jsonb := list -> 'shape';
  order_by  constant text  := case when columns ? (shape ->> 'orderBy') then shape ->> 'orderBy' else list ->> 'orderBy' end;
  direction constant text  := case when lower(shape ->> 'orderDir') = 'asc' then 'asc' else 'desc' end;
  sort      constant jsonb := columns -> order_by;
  id        constant text  := format('t.%I', list #>> '{columns,id,name}');
  requested constant text  := svc_hidden.shape_sql(list -> 'filters', shape -> 'filters');
  condition constant text  := coalesce(nullif(concat_ws(' and ', list ->> 'visible', nullif(requested, ''),
    case when shape ? 'search' then svc_hidden.search_sql(list -> 'search', 'svc_hidden.search_pattern($3::text)') end), ''),
    'true');
  page_size constant text := coalesce((shape ->> 'limit')::bigint::text, '$1::bigint');
  counted   constant text := coalesce(shape ->> 'count', list ->> 'count');
  skipped   constant text := case when shape ? 'limit' then '0' else '$2::bigint' end;
  chosen record;
begin
  if requested is null or not list ? 'fields' or counted = 'estimated' then
    return null;
  end if;
  chosen := svc_hidden.related_item(list, shape);

  return format(
    'select json_build_object(
              ''data'', coalesce(json_agg(page.item), ''[]''),
              ''total'', %1$s
            )::text as result
       from (
         select %2$s as item
           from (
             select %3$s
               from %4$s as t
              where %5$s
              order by %6$s %7$s %8$s, %9$s %7$s
              limit %10$s offset %11$s
           ) as t
       ) as page',
    -- A page that is not full shows the total, unless it lies behind the end.
    case when counted = 'none' then 'null' else format(
      'case when count(*) < %1$s and (count(*) > 0 or %2$s = 0) then %2$s + count(*)
            else (select count(*) from %3$s as t where %4$s) end', page_size, skipped, list ->> 'table', condition) end,
    chosen.item,
    svc_hidden.columns_sql(chosen.needed || array[sort ->> 'name', list #>> '{columns,id,name}']),
    list ->> 'table',
    condition,
    format('t.%I', sort ->> 'name'),
    direction,
    case when (sort ->> 'notNull')::boolean then '' else 'nulls last' end,
    id,
    page_size,
    skipped
  );
end
$$;

comment on function svc.list_statement(jsonb) is
  'The text of the prepared statement that answers lists of one shape, or null. Called by the service.';

grant execute on function svc.list_statement(jsonb) to svc_request, svc_anonymous, svc_authenticated;
