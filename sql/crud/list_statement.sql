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
-- The size of the page is in the text for pages by cursor, and for first pages whose plan is kept. Then the number of rows and
-- the offset are not parameters, and the search and the filters begin with $1.
--
-- The argument is the description of the resource (see svc.find_rows) with one member more, `shape`:
--
--   orderBy, orderDir, select, include   of the caller, as svc.find_rows() takes them; no filters within include
--   search                               present if the caller searches
--   filters                              the conditions (svc_hidden.shape_sql)
--   limit                                the size of a page, where it is in the text
--   cursor                               of a page by cursor, with `limit`: the numbers of its parameters {filters, list, key,
--                                        id}. They are the caller's filters as JSON, if there are any, and what the cursor
--                                        holds: without `id` the page is the first, without `key` the row has none
--   count                                'none' where the caller asks for no total. (Default: that of the resource)
--
-- Null if a statement of this form cannot answer the list; then svc.find_rows() does.

create or replace function svc.list_statement(list jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  columns   constant jsonb := list -> 'columns';
  shape     constant jsonb := list -> 'shape';
  place     constant jsonb := shape -> 'cursor';
  order_by  constant text  := case when columns ? (shape ->> 'orderBy') then shape ->> 'orderBy' else list ->> 'orderBy' end;
  direction constant text  := case when lower(shape ->> 'orderDir') = 'asc' then 'asc' else 'desc' end;
  sort      constant jsonb := columns -> order_by;
  id        constant text  := format('t.%I', list #>> '{columns,id,name}');
  requested constant text  := svc_hidden.shape_sql(list -> 'filters', shape -> 'filters');
  searched  constant text  := case when shape ? 'search' then case when shape ? 'limit' then '$1::text' else '$3::text' end end;
  condition constant text  := coalesce(nullif(concat_ws(' and ', list ->> 'visible', nullif(requested, ''),
    svc_hidden.search_sql(list -> 'search', 'svc_hidden.search_pattern(' || searched || ')')), ''), 'true');
  page_size constant text := coalesce((shape ->> 'limit')::bigint::text, '$1::bigint');
  counted   constant text := coalesce(shape ->> 'count', list ->> 'count');
  counting  constant text := format('(select count(*) from %s as t where %s)', list ->> 'table', condition);
  skipped   constant text := case when shape ? 'limit' then '0' else '$2::bigint' end;
  list_name text;
  start text;
  chosen record;
begin
  if requested is null or not list ? 'fields' or counted = 'estimated' then
    return null;
  end if;
  chosen := svc_hidden.related_item(list, shape);
  list := list || jsonb_build_object('pageSize', page_size, 'item', 'row_to_json(item.*)',
    'shown', format('cross join lateral %s as item', chosen.item),
    'row', svc_hidden.columns_sql(chosen.needed || array[sort ->> 'name', list #>> '{columns,id,name}']));

  if place is not null then
    list_name := format('svc_hidden.list_name(%L, %L, %L, %s, %s)', list ->> 'name', order_by, direction,
      coalesce('$' || (place -> 'filters')::integer || '::jsonb::text', 'null'), coalesce(searched, 'null'));
    if place ? 'id' then
      -- A sub-select is evaluated once, before the first row is read.
      start := format('(select svc_hidden.check_cursor($%s::text, %s)) and %s', (place -> 'list')::integer, list_name,
        svc_hidden.behind_sql(sort, columns -> 'id', direction, '$' || (place -> 'key')::integer,
          '$' || (place -> 'id')::integer));
    end if;
    return format(
      'select json_build_object(
                ''data'', page.data,
                ''total'', %1$s,
                ''nextCursor'', case when page.found > %2$s then
                  svc_hidden.cursor_text(%3$s, page.last_key, page.last_id) end
              )::text as result
         from (%4$s) as page (data, last_key, last_id, found)',
      case
        when counted = 'none' then 'null'
        when place ? 'id' then counting
        else format('case when page.found <= %s then page.found else %s end', page_size, counting)
      end,
      page_size,
      list_name,
      svc_hidden.page_sql(list, sort, direction, concat_ws(' and ', condition, start), 0)
    );
  end if;

  return format(
    'select json_build_object(
              ''data'', coalesce(json_agg(item.*), ''[]''),
              ''total'', %1$s
            )::text as result
       from (
         select %3$s
           from %4$s as t
          where %5$s
          order by %6$s %7$s %8$s, %9$s %7$s
          limit %10$s offset %11$s
       ) as t %2$s',
    -- A page that is not full shows the total, unless it lies behind the end.
    case when counted = 'none' then 'null' else format(
      'case when count(*) < %1$s and (count(*) > 0 or %2$s = 0) then %2$s + count(*) else %3$s end',
      page_size, skipped, counting) end,
    list ->> 'shown',
    list ->> 'row',
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
