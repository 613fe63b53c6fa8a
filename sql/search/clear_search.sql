-- Empties the index of a table that was truncated or is about to be indexed again.

create or replace function svc_private.clear_search(target integer)
returns void
language sql
volatile
set search_path = ''
as $$
  delete from svc_private.search_counters where group_id in (select id from svc_private.search_groups where table_id = target);
  delete from svc_private.search_totals where group_id in (select id from svc_private.search_groups where table_id = target);
  delete from svc_private.search_documents where table_id = target;
$$;

comment on function svc_private.clear_search(integer) is 'Removes every row of a searchable table from its index.';
