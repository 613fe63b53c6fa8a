-- The condition that starts a page behind a cursor, for svc.find_rows(): reads the cursor, refuses that of another list, and
-- asks svc_hidden.behind_sql() with its values.

create or replace function svc_hidden.cursor_sql(cursor text, list_name text, sort jsonb, id jsonb, direction text)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  place jsonb;  -- [list, key, id]
  is_place boolean;
begin
  begin
    place := convert_from(decode(translate(cursor, '-_', '+/') || repeat('=', (4 - length(cursor) % 4) % 4), 'base64'),
      'UTF8')::jsonb;
  exception when data_exception or statement_too_complex then  -- the latter: nested too deeply
    place := null;
  end;

  is_place := jsonb_typeof(place) = 'array' and jsonb_array_length(place) = 3 and jsonb_typeof(place -> 2) = 'string';
  perform svc_hidden.check_cursor(case when is_place then place ->> 0 end, list_name);
  return svc_hidden.behind_sql(sort, id, direction, quote_literal(place ->> 1), quote_literal(place ->> 2));
end
$$;

comment on function svc_hidden.cursor_sql(text, text, jsonb, jsonb, text) is
  'SQL condition for the rows after a cursor; SV400 if the cursor belongs to another list.';

grant execute on function svc_hidden.cursor_sql(text, text, jsonb, jsonb, text) to svc_anonymous, svc_authenticated;
