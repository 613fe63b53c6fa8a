-- Indexes what svc.import_rows() has written: svc_private.index_rows_together() as the owner of the index. That one runs
-- text, and a function that requests call must not (tests/policies/escapes.test.ts).
--
-- It takes no argument and returns nothing, and it finds only waiting rows of the current transaction. So a request that
-- calls it by itself changes nothing.

create or replace function svc_hidden.index_waiting_rows()
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

comment on function svc_hidden.index_waiting_rows() is
  'Puts the rows that an import has written into the inverted index, all at once. '
  'Definer: the role that writes a row has no rights on the index.';

grant execute on function svc_hidden.index_waiting_rows() to svc_authenticated;
