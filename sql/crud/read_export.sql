-- The next rows of the cursor that svc.open_export() has opened, one a line; null at the end. Reads until the lines have
-- `bytes` characters, so that neither side holds more than that and one row, however wide the rows are.

create or replace function svc.read_export(bytes integer)
returns text
language plpgsql
volatile
set search_path = pg_catalog, public, extensions, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  rows constant refcursor := 'svc_export';
  line text;
  lines text[] := '{}';
  size integer := 0;
begin
  while size < bytes loop
    fetch rows into line;
    exit when not found;
    lines := lines || line;
    size := size + length(line);
  end loop;
  return case when size > 0 then array_to_string(lines, E'\n') end;
end
$$;

comment on function svc.read_export(integer) is
  'The next rows of svc.open_export() one a line, of about the given length together; null at the end.';

grant execute on function svc.read_export(integer) to svc_anonymous, svc_authenticated;
