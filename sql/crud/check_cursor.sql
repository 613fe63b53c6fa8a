-- Refuses (SV400) a cursor that cannot be read, or that was made for another list: starting anywhere else would silently
-- skip or repeat rows. Called by svc_hidden.cursor_sql(), and by the statements of svc.list_statement().

create or replace function svc_hidden.check_cursor(named text, list_name text)
returns boolean  -- always true
language plpgsql
stable
as $$
begin
  if named is distinct from list_name then
    raise exception 'a cursor of another list' using errcode = 'SV400',
      hint = 'Pass a nextCursor of the same list: resource, order, filter, search and user. Start with cursor: null.';
  end if;
  return true;
end
$$;

comment on function svc_hidden.check_cursor(text, text) is
  'True for the list that a cursor names; SV400 for another. Part of svc.find_rows() and svc.list_statement(). '
  'lint:allow function_without_search_path: it runs under that of its callers; its text names no function of a schema.';

grant execute on function svc_hidden.check_cursor(text, text) to svc_anonymous, svc_authenticated;
