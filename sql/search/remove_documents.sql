-- Takes rows out of the inverted index. Called by svc_private.index_rows() for rows that were deleted or changed.
-- What they counted is taken back by rows with negative numbers: see svc_private.search_counters.

create or replace function svc_private.remove_documents(target integer, row_ids text[])
returns void
language sql
volatile
set search_path = ''
as $$
  with document as (
    delete from svc_private.search_documents d
     where d.table_id = target and d.row_id = any (row_ids)
    returning d.id, d.group_id, d.lengths
  ), posting as (
    delete from svc_private.search_postings p
     where p.document_id in (select id from document)
    returning p.group_id, p.term, p.frequencies
  ), counters as (
    insert into svc_private.search_counters (group_id, term, fields, documents)
    select p.group_id, p.term, f.fields, -count(*)
      from posting p
     cross join lateral (
       select bit_or(1 << (i::integer - 1)) as fields from unnest(p.frequencies) with ordinality as u (n, i) where n > 0
     ) as f
     group by 1, 2, 3
  )
  insert into svc_private.search_totals (group_id, documents, lengths)
  select d.group_id, -1, array(select -n::bigint from unnest(d.lengths) as n) from document d
$$;

comment on function svc_private.remove_documents(integer, text[]) is 'Removes rows of a searchable table from its index.';
