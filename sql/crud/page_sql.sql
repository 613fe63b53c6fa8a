-- The statement that reads a page of a list, for svc.find_rows(): one row with the page as JSON, the sort key and the id
-- of its last row for a cursor, and the number of rows found, at most one more than the page holds.
--
-- The innermost select sorts and limits plain columns. JSON is made outside it, for the rows of the page alone. Rows
-- are numbered after the limit, so that the sort may stop at it.
--
-- `item` of the list is the JSON as SQL over t, and over what `shown`, if there is one, joins to t.

create or replace function svc_hidden.page_sql(list jsonb, sort jsonb, direction text, condition text, skipped bigint)
returns text
language plpgsql
immutable
as $$
begin
  return format(
    'select coalesce(json_agg(item) filter (where n <= %1$s), ''[]''),
            max(sort_key) filter (where n = %1$s), max(row_id) filter (where n = %1$s), count(*)
       from (
         select %2$s as item, %3$s::text as sort_key, %4$s::text as row_id, row_number() over () as n
           from (
             select %5$s
               from %6$s as t
              where %7$s
              order by %3$s %8$s %9$s, %4$s %8$s
              limit %1$s + 1 offset %10$s
           ) as t %11$s
       ) as page',
    list ->> 'pageSize',
    list ->> 'item',
    format('t.%I', sort ->> 'name'),
    format('t.%I', list #>> '{columns,id,name}'),
    list ->> 'row',
    list ->> 'table',
    coalesce(nullif(condition, ''), 'true'),
    direction,
    case when (sort ->> 'notNull')::boolean then '' else 'nulls last' end,
    skipped,
    list ->> 'shown'
  );
end
$$;

comment on function svc_hidden.page_sql(jsonb, jsonb, text, text, bigint) is
  'The statement that reads a page of a list. Part of svc.find_rows(). '
  'lint:allow function_without_search_path: it runs under that of its caller; its text names no function of a schema.';

grant execute on function svc_hidden.page_sql(jsonb, jsonb, text, text, bigint) to svc_anonymous, svc_authenticated;
