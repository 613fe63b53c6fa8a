-- The cursor behind the last row of a page, for svc.find_rows(). svc_hidden.cursor_sql() reads it.

create or replace function svc_hidden.cursor_text(list_name text, key text, row_id text)
returns text
language sql
immutable
as $$
  -- URL-safe base64, without the line breaks that encode() inserts.
  select rtrim(translate(encode(convert_to(jsonb_build_array(list_name, key, row_id)::text, 'UTF8'), 'base64'),
    E'+/\n', '-_'), '=')
$$;

comment on function svc_hidden.cursor_text(text, text, text) is
  'A cursor: the list, and the sort key and id of a row, as URL-safe base64. Part of svc.find_rows(). '
  'lint:allow function_without_search_path: it runs under that of its caller, and SET takes longer than the function.';

grant execute on function svc_hidden.cursor_text(text, text, text) to svc_anonymous, svc_authenticated;
