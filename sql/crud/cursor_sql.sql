-- The condition that starts a page behind a cursor, for svc.find_rows().
--
-- Rows are ordered by a sort key and then, in the same direction, by id; null keys come last in both directions. A
-- cursor that cannot be read, or that was made for another list, is refused (SV400): starting anywhere else would
-- silently skip or repeat rows.

create or replace function svc_hidden.cursor_sql(cursor text, list_name text, sort jsonb, id jsonb, direction text)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  place jsonb;  -- [list, key, id]
  sort_sql constant text := format('t.%I', sort ->> 'name');
  id_sql constant text := format('t.%I', id ->> 'name');
  beyond constant text := case direction when 'asc' then '>' else '<' end;
  key text;
  row_id text;
begin
  begin
    place := convert_from(decode(translate(cursor, '-_', '+/') || repeat('=', (4 - length(cursor) % 4) % 4), 'base64'),
      'UTF8')::jsonb;
  exception when data_exception or statement_too_complex then  -- the latter: nested too deeply
    place := null;
  end;

  if place is null or jsonb_typeof(place) <> 'array' or jsonb_array_length(place) <> 3
    or place ->> 0 is distinct from list_name or jsonb_typeof(place -> 2) <> 'string' then
    raise exception 'a cursor of another list' using errcode = 'SV400',
      hint = 'Pass a nextCursor of the same list: resource, order, filter, search and user. Start with cursor: null.';
  end if;

  row_id := format('%L::%s', place ->> 2, id ->> 'type');
  if sort_sql = id_sql then
    return format('%s %s %s', id_sql, beyond, row_id);
  end if;
  if place ->> 1 is null then
    return format('(%s is null and %s %s %s)', sort_sql, id_sql, beyond, row_id);
  end if;

  key := format('%L::%s', place ->> 1, sort ->> 'type');
  if (sort ->> 'notNull')::boolean then
    -- One comparison of rows, which an index on both columns answers.
    return format('(%s, %s) %s (%s, %s)', sort_sql, id_sql, beyond, key, row_id);
  end if;
  return format('(%1$s %3$s %4$s or (%1$s = %4$s and %2$s %3$s %5$s) or %1$s is null)',
    sort_sql, id_sql, beyond, key, row_id);
end
$$;

comment on function svc_hidden.cursor_sql(text, text, jsonb, jsonb, text) is
  'SQL condition for the rows after a cursor; SV400 if the cursor belongs to another list.';

grant execute on function svc_hidden.cursor_sql(text, text, jsonb, jsonb, text) to svc_anonymous, svc_authenticated;
