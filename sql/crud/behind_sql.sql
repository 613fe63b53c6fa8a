-- The condition for the rows behind another: the only place that says where a page by cursor starts. Called by
-- svc_hidden.cursor_sql() with literals, and by svc.list_statement() with parameters.
--
-- Rows are ordered by a sort key and then, in the same direction, by id; null keys come last in both directions. `key` and
-- `row_id` are values as SQL, without their types; a null `key` means that the row has none.
--
-- `is null` is also true for a composite value whose members are all null, which has a place in the order. `is not distinct
-- from null` is the same test without that, and indexes serve it too.

create or replace function svc_hidden.behind_sql(sort jsonb, id jsonb, direction text, key text, row_id text)
returns text
language plpgsql
immutable
as $$
declare
  sort_sql constant text := format('t.%I', sort ->> 'name');
  id_sql   constant text := format('t.%I', id ->> 'name');
  beyond   constant text := case direction when 'asc' then '>' else '<' end;
begin
  row_id := format('%s::%s', row_id, id ->> 'type');
  if sort_sql = id_sql then
    return format('%s %s %s', id_sql, beyond, row_id);
  end if;
  if key is null then
    return format('(%s is not distinct from null and %s %s %s)', sort_sql, id_sql, beyond, row_id);
  end if;

  key := format('%s::%s', key, sort ->> 'type');
  if (sort ->> 'notNull')::boolean then
    -- One comparison of rows, which an index on both columns answers.
    return format('(%s, %s) %s (%s, %s)', sort_sql, id_sql, beyond, key, row_id);
  end if;
  return format('(%1$s %3$s %4$s or (%1$s = %4$s and %2$s %3$s %5$s) or %1$s is not distinct from null)',
    sort_sql, id_sql, beyond, key, row_id);
end
$$;

comment on function svc_hidden.behind_sql(jsonb, jsonb, text, text, text) is
  'SQL condition for the rows behind a sort key and id. Part of svc.find_rows() and svc.list_statement(). '
  'lint:allow function_without_search_path: it runs under that of its callers; its text names no function of a schema.';

grant execute on function svc_hidden.behind_sql(jsonb, jsonb, text, text, text) to svc_anonymous, svc_authenticated;
