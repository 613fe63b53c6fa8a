-- Removes rows from the inverted index. Called by svc_private.index_rows() for rows that were deleted or changed, and by
-- svc_private.index_rows_together().
-- Negative numbers cancel what they added to the counters: see svc_private.search_counters.

create or replace function svc_private.remove_documents(target integer, row_ids text[])
returns void
language plpgsql  -- which keeps the plan
volatile
set search_path = ''
set jit = off
set enable_seqscan = off  -- the table may have been empty when the plan was made
as $$
begin
  with document as (
    delete from svc_private.search_documents d
     where d.table_id = target and d.row_id = any (row_ids)
    returning d.group_id, d.lengths, d.keys
  ), counters as (
    insert into svc_private.search_counters (group_id, documents, key)
    select d.group_id, -count(*), u.key from document d cross join lateral unnest(d.keys) as u (key) group by 1, 3
  )
  insert into svc_private.search_totals (group_id, documents, lengths)
  select d.group_id, -1, array(select -n::bigint from unnest(d.lengths) as n) from document d;
end
$$;

comment on function svc_private.remove_documents(integer, text[]) is 'Removes rows of a searchable table from its index.';
