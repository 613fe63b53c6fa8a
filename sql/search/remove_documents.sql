-- Removes rows from the inverted index. Called by svc_private.index_rows() for rows that were deleted or changed.
-- Negative numbers cancel what they added to the counters: see svc_private.search_counters.

create or replace function svc_private.remove_documents(target integer, row_ids text[])
returns void
language sql
volatile
set search_path = ''
as $$
  with document as (
    delete from svc_private.search_documents d
     where d.table_id = target and d.row_id = any (row_ids)
    returning d.group_id, d.lengths, d.terms, d.frequencies
  ), posting as (
    select d.group_id, p.term, f.fields, svc_private.search_class(f.frequency, l.length) as class
      from document d
     cross join lateral (select sum(n)::integer as length from unnest(d.lengths) as n) as l
     cross join lateral unnest(d.terms) with ordinality as p (term, place)
     cross join lateral (
       select bit_or(1 << (i - 1)) filter (where d.frequencies[p.place][i] > 0) as fields,
              sum(d.frequencies[p.place][i])::integer as frequency
         from generate_series(1, cardinality(d.lengths)) as i
     ) as f
  ), counters as (
    insert into svc_private.search_counters (group_id, term, fields, class, documents)
    select group_id, term, fields, class, -count(*) from posting group by 1, 2, 3, 4
  )
  insert into svc_private.search_totals (group_id, documents, lengths)
  select d.group_id, -1, array(select -n::bigint from unnest(d.lengths) as n) from document d
$$;

comment on function svc_private.remove_documents(integer, text[]) is 'Removes rows of a searchable table from its index.';
