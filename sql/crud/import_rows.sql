-- Writes the rows of an import through a generated function, as the caller: each row as if it had been sent alone.
-- Returns {written, refused}, where `refused` has the index of each refused row and the error of PostgreSQL.
-- Called by steps of the workflow crud.import (src/transfer/import-batch.ts).
--
-- All rows are tried at once, because a subtransaction for each costs as much as the row. Only if one is refused, each is
-- tried by itself. A loop over EXECUTE takes one statement only, and none that is SET. Deferred constraints are checked
-- with the row: at COMMIT they would refuse rows that are valid.
--
-- Searchable rows are indexed together at the end, because a statement that indexes one row costs twenty times as much as
-- writing it. If the index refuses one of them, each is indexed with its row, so that only this one is refused.

create or replace function svc.import_rows(operation text, calls jsonb)
returns jsonb
language plpgsql
volatile
set search_path = ''
as $$
declare
  parameters constant text := case when operation like '%\_upsert'
    then 'c.value ->> 0, c.value -> 1, c.value -> 2' else 'c.value -> 0' end;
  -- In lower case, as in crud_resource().
  statement constant text := format('select count(svc_crud.%I(%s)) from jsonb_array_elements($1) as c',
    lower(operation collate "C"), parameters);
  -- A deadlock, a timeout, a lack of resources, a wrong function. A refusal by a policy concerns a row, and so do a value
  -- that an index cannot hold, and a syntax error of a type that is a language, such as tsquery.
  of_no_row constant text := '^(?!42501|42601|54000)(40|42|5|XX)';
  place integer := 0;
  one jsonb;
  added bigint;
  written bigint := 0;
  refused jsonb := '[]';
  state text;
  said text;
  reason text;
begin
  set constraints all immediate;
  set local svc.defers_indexing = on;  -- for svc_private.index_rows(). SQL of a request has no SET
  begin
    for written in execute statement using calls loop end loop;
    set local svc.defers_indexing = off;
    perform svc_hidden.index_waiting_rows();
    return jsonb_build_object('written', written, 'refused', refused);
  exception when others then
    if sqlstate ~ of_no_row then
      raise;
    end if;
  end;
  for attempt in 1 .. 2 loop
    begin
      place := 0;
      written := 0;
      refused := '[]';
      for one in select e.value from jsonb_array_elements(calls) as e loop
        begin
          for added in execute statement using jsonb_build_array(one) loop end loop;
          written := written + added;
        exception when others then
          if sqlstate ~ of_no_row then
            raise;
          end if;
          get stacked diagnostics state = returned_sqlstate, said = message_text, reason = pg_exception_detail;
          refused := refused || jsonb_build_object('index', place, 'state', state, 'message', said, 'detail', reason);
        end;
        place := place + 1;
      end loop;
      set local svc.defers_indexing = off;
      perform svc_hidden.index_waiting_rows();
      exit;
    exception when others then
      if attempt = 2 or sqlstate ~ of_no_row then
        raise;
      end if;
      set local svc.defers_indexing = off;
    end;
  end loop;
  return jsonb_build_object('written', written, 'refused', refused);
end
$$;

comment on function svc.import_rows(text, jsonb) is
  'Calls a generated create or upsert for each row; returns the number of written rows, and the refused ones.';

grant execute on function svc.import_rows(text, jsonb) to svc_authenticated;
