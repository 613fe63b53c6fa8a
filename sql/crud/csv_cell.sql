-- A text as a cell of CSV (RFC 4180): in quotes where it must be, and where it is empty, for an empty cell is null. Called for
-- each row by the statement that svc_hidden.csv_sql() writes.

create or replace function svc_hidden.csv_cell(cell text)
returns text
language sql
immutable
as $$
  select case when cell = '' or translate(cell, E'",\r\n', '') <> cell or btrim(cell) <> cell
    then '"' || replace(cell, '"', '""') || '"' else cell end
$$;

comment on function svc_hidden.csv_cell(text) is
  'A text as a cell of CSV. Part of svc.open_export(). '
  'lint:allow function_without_search_path: PostgreSQL puts its body into the statement only without one.';

grant execute on function svc_hidden.csv_cell(text) to svc_anonymous, svc_authenticated;
