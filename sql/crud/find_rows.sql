-- The list of a generated resource when the caller wants more than a page in the default order: filters, search,
-- another order, or a cursor. Called by svc_crud.<prefix>_list, which passes the description of its table. Runs with
-- the caller's rights, so the table's policies decide about every row, and about every row that is counted.
--
-- `resource` comes from the code generator and is trusted: names, types and the select list of one table. `args` comes
-- from the caller. It reaches SQL only through %L, svc_hidden.filter_sql(), or a look-up in `resource`.
--
-- Keyset cursors: a cursor holds the sort key and id of the last row of a page. The next page starts there instead of
-- counting from the beginning: its cost does not grow with depth, and rows that are added or removed elsewhere cause no
-- repeated or missing rows. A cursor names its resource, order, filter and user; another list refuses it. It is neither
-- secret nor a credential: whatever it says, only rows that the policies admit are returned.
--
-- Types and operators are looked up as in migrations: a citext sorts, and continues behind a cursor, as citext.

create or replace function svc.find_rows(resource jsonb, args jsonb, page_size bigint, page bigint)
returns json
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_variable
declare
  -- An order that the resource does not have falls back to its own.
  order_by constant text := case
    when resource -> 'columns' ? (args ->> 'orderBy') then args ->> 'orderBy' else resource ->> 'orderBy' end;
  ascending constant boolean := lower(args ->> 'orderDir') = 'asc';
  sort_column constant jsonb := resource -> 'columns' -> order_by;
  sort constant text := format('t.%I', sort_column ->> 'name');
  id constant text := format('t.%I', resource -> 'columns' -> 'id' ->> 'name');
  nullable constant boolean := not (sort_column ->> 'notNull')::boolean;
  direction constant text := case when ascending then 'asc' else 'desc' end;

  asked constant text := nullif(concat_ws(' and ',
    svc_hidden.filter_sql(resource -> 'filters', args -> 'filters'),
    svc_hidden.search_sql(resource -> 'search', args ->> 'search')), '');
  condition constant text := concat_ws(' and ', resource ->> 'visible', asked);
  -- What a cursor is bound to, besides the place it marks.
  list_name constant text := md5(concat_ws(chr(31), resource ->> 'name', order_by, direction, args ->> 'filters',
    args ->> 'search', coalesce((select svc.current_user_id()), '')));
  by_cursor constant boolean := args ? 'cursor';
  skipped constant bigint := case when by_cursor then 0 else (page - 1) * page_size end;
  start text := 'true';

  data json;
  last_key text;
  last_id text;
  found_rows bigint;
  total bigint;
begin
  if args ->> 'cursor' is not null then
    start := svc_hidden.cursor_sql(args ->> 'cursor', list_name, sort_column || jsonb_build_object('sql', sort),
      resource -> 'columns' -> 'id' || jsonb_build_object('sql', id), ascending);
  end if;

  -- One row more than the page tells whether there is another page. The innermost select sorts and limits plain columns;
  -- JSON is made outside it, for the rows of the page alone. Numbered after the limit, so that the sort may stop at it.
  execute format(
    'select coalesce(json_agg(item) filter (where n <= %1$s), ''[]''),
            max(sort_key) filter (where n = %1$s), max(row_id) filter (where n = %1$s), count(*)
       from (
         select %2$s as item, %3$s::text as sort_key, %4$s::text as row_id, row_number() over () as n
           from (
             select %5$s
               from %6$s as t
              where %7$s and %8$s
              order by %3$s %9$s %10$s, %4$s %9$s
              limit %1$s + 1 offset %11$s
           ) as t
       ) as page',
    page_size, resource ->> 'item', sort, id, resource ->> 'row', resource ->> 'table',
    coalesce(nullif(condition, ''), 'true'), start,
    direction, case when nullable then 'nulls last' else '' end, skipped
  ) into data, last_key, last_id, found_rows;

  total := case
    -- A page with nothing behind it shows the total, unless it lies behind the end itself.
    when resource ->> 'count' <> 'none' and start = 'true' and found_rows <= page_size
      and (found_rows > 0 or skipped = 0) then skipped + found_rows
    -- No fewer than are shown.
    when resource ->> 'count' = 'estimated' and asked is not null then
      greatest(svc_hidden.estimate_matches(resource ->> 'table', resource ->> 'visible', asked), skipped + found_rows)
    else svc_hidden.count_rows(resource ->> 'table', nullif(condition, ''), resource ->> 'count')
  end;

  if not by_cursor then
    return json_build_object('data', data, 'total', total);
  end if;
  return json_build_object('data', data, 'total', total, 'nextCursor', case when found_rows > page_size then
    -- URL-safe base64, without the line breaks that encode() puts in.
    rtrim(translate(encode(convert_to(jsonb_build_array(list_name, last_key, last_id)::text, 'UTF8'), 'base64'),
      E'+/\n', '-_'), '=') end);
end
$$;

comment on function svc.find_rows(jsonb, jsonb, bigint, bigint) is
  'A list with filters, search, order or cursor: {data, total, nextCursor?}. Called by generated list functions.';

grant execute on function svc.find_rows(jsonb, jsonb, bigint, bigint) to svc_anonymous, svc_authenticated;
