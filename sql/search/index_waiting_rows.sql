-- Lets svc.import_rows() index what it has written. It takes no argument and reads only rows that are waiting, which are of
-- the current transaction: a request that calls it by itself changes nothing.

create or replace function svc.index_waiting_rows()
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform svc_private.index_rows_together();
end
$$;

comment on function svc.index_waiting_rows() is
  'Puts the rows that an import has written into the inverted index, all at once. '
  'Definer: the role that writes a row has no rights on the index.';

grant execute on function svc.index_waiting_rows() to svc_authenticated;
