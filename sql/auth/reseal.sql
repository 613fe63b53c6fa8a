-- Replaces one encrypted value. `svc secrets reseal` of earlier versions calls it; svc_private.reseal_values() takes its place.

create or replace function svc_private.reseal(relation regclass, column_name name, old text, new text)
returns boolean
language sql
volatile
set search_path = ''
as $$
  select svc_private.reseal_values(relation, column_name, array[old], array[new]) > 0
$$;

comment on function svc_private.reseal(regclass, name, text, text) is
  'Whether the value still existed and was replaced; for commands of earlier versions of svc.';
