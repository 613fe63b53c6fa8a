-- The list of a generated resource when the caller wants more than a page in the default order: filters, search,
-- another order, or a cursor. Called by svc_crud.<prefix>_list, which passes the description of its table. Runs with
-- the caller's rights, so the table's policies decide about every row, and about every row that is counted.
--
-- The argument has these members. `args` comes from the caller. It reaches SQL only through %L, svc_hidden.filter_sql(),
-- or a look-up in `columns`. The other members come from the code generator and are trusted.
--
--   name, table, row, item   the resource; its table, plain columns and one row as JSON, as SQL over the alias t
--   visible                  optional: the condition that excludes softly deleted rows
--   columns, orderBy         the columns that a caller may sort by, and the default
--   filters, search          the columns that a caller may filter by, and those that are searched
--   count                    the total: exact, estimated or none
--   relations, fields        optional: what include and select choose from (svc_hidden.related_item)
--   args                     {orderBy, orderDir, filters, search, cursor, include, select}
--   pageSize, page           the number of rows, and the page, from 1
--
-- Keyset cursors: a cursor holds the sort key and id of the last row of a page. The next page starts there instead of
-- counting from the beginning: its cost does not grow with depth, and rows that are added or removed elsewhere cause no
-- repeated or missing rows. A cursor names its resource, order, filter and user; another list refuses it. It is neither
-- secret nor a credential: whatever it says, only rows that the policies admit are returned.
--
-- Types and operators are looked up as in migrations: a citext sorts, and continues behind a cursor, as citext.
--
-- A page reads few rows, which are in memory. At PostgreSQL's price of a page on a disk, a look-up along an index is dearer
-- than reading a small table, which it does once for each row with relations. A fiftieth, with the same ratio between the
-- two, leaves the choice for large parts of a table as it was.
-- https://www.postgresql.org/docs/current/runtime-config-query.html#GUC-RANDOM-PAGE-COST

create or replace function svc.find_rows(list jsonb)
returns json
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
set seq_page_cost = 0.02
set random_page_cost = 0.08
as $$
#variable_conflict use_variable
declare
  columns   constant jsonb  := list -> 'columns';
  args      constant jsonb  := list -> 'args';
  page_size constant bigint := (list -> 'pageSize')::bigint;
  page      constant bigint := (list -> 'page')::bigint;

  -- Step 1: the order. One that the resource does not have falls back to its own.
  order_by  constant text    := case when columns ? (args ->> 'orderBy') then args ->> 'orderBy' else list ->> 'orderBy' end;
  direction constant text    := case when lower(args ->> 'orderDir') = 'asc' then 'asc' else 'desc' end;
  sort      constant jsonb   := columns -> order_by;

  -- Step 2: the rows.
  requested constant text    := nullif(concat_ws(' and ',
    svc_hidden.filter_sql((list -> 'filters') || coalesce(list -> 'relations', '{}'), args -> 'filters'),
    svc_hidden.search_sql(list -> 'search', quote_literal(svc_hidden.search_pattern(nullif(args ->> 'search', ''))))), '');

  -- Step 3: where the page starts. A cursor is bound to its list.
  list_name constant text    := svc_hidden.list_name(list ->> 'name', order_by, direction, args ->> 'filters',
    args ->> 'search');
  by_cursor constant boolean := args ? 'cursor';
  skipped   constant bigint  := case when by_cursor then 0 else (page - 1) * page_size end;
  start     constant text    := case when args ->> 'cursor' is not null then
    svc_hidden.cursor_sql(args ->> 'cursor', list_name, sort, columns -> 'id', direction) end;

  data json;
  last_key text;
  last_id text;
  found_rows bigint;
  total bigint;
  chosen record;
begin
  -- Step 4: what each row shows, when that is not every column. The page reads the columns that it is made of and sorted
  -- by.
  if args ?| '{include,select}' then
    chosen := svc_hidden.related_item(list, args);
    list := list || jsonb_build_object('item', 'row_to_json(item.*)',
      'shown', format('cross join lateral %s as item', chosen.item),
      'row', svc_hidden.columns_sql(chosen.needed || array[sort ->> 'name', list #>> '{columns,id,name}']));
  end if;

  -- Step 5: the page, and one row more, which tells whether there is another page.
  execute svc_hidden.page_sql(list, sort, direction, concat_ws(' and ', list ->> 'visible', requested, start), skipped)
    into data, last_key, last_id, found_rows;

  -- Step 6: the total. A page with nothing behind it shows it, unless the page itself lies behind the end.
  if list ->> 'count' <> 'none' and start is null and found_rows <= page_size and (found_rows > 0 or skipped = 0) then
    total := skipped + found_rows;
  else
    total := svc_hidden.count_rows(list ->> 'table', list ->> 'visible', requested, list ->> 'count', skipped + found_rows);
  end if;

  if by_cursor then
    return json_build_object('data', data, 'total', total, 'nextCursor',
      case when found_rows > page_size then svc_hidden.cursor_text(list_name, last_key, last_id) end);
  end if;
  return json_build_object('data', data, 'total', total);
end
$$;

comment on function svc.find_rows(jsonb) is
  'A list with filters, search, order or cursor: {data, total, nextCursor?}. Called by generated list functions.';

grant execute on function svc.find_rows(jsonb) to svc_anonymous, svc_authenticated;

-- The form that earlier generated files call. `svc migrate` commits the platform's files before the application's:
-- processes that serve meanwhile still run the earlier list functions.

create or replace function svc.find_rows(resource jsonb, args jsonb, page_size bigint, page bigint)
returns json
language sql
stable
set search_path = ''
as $$
  select svc.find_rows(resource || jsonb_build_object('args', args, 'pageSize', page_size, 'page', page))
$$;

comment on function svc.find_rows(jsonb, jsonb, bigint, bigint) is
  'The form of svc.find_rows() for list functions that an earlier version generated.';

grant execute on function svc.find_rows(jsonb, jsonb, bigint, bigint) to svc_anonymous, svc_authenticated;
