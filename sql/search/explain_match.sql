-- Explains the keyword score of a row, term by term: `svc search --explain` (src/cli/search.ts). For operators only,
-- because it answers for any owner. The addends are those of svc_private.find_matches(), whose header defines them;
-- their sum is the score. The idf of a term that a prefix was completed to is divided by the square root of the number of such
-- terms, because each of them counts only that much.

create or replace function svc_private.explain_match(
  target text,
  fields text[],
  query text,
  corpus text,
  visibility text,
  owner text,         -- of private rows
  prefix boolean,
  row_ids text[]
)
returns table (
  row_id text, term text, n bigint, holding bigint, documents bigint, idf double precision, tf bigint, length bigint,
  average double precision, norm double precision, contribution double precision
)
language sql
stable
set search_path = ''
as $$
  with indexed as (
    select t.id, t.definition, jsonb_array_length(t.definition -> 'fields') as width, svc_private.field_weights(t.definition) as weights
      from svc_private.search_tables t where t.name = explain_match.target
  ), searched as (
    select svc_private.search_group_id(i.id, explain_match.corpus, explain_match.visibility, explain_match.owner) as id
      from indexed i
  ), place as (
    select p.place::integer as place
      from indexed i cross join lateral jsonb_array_elements_text(i.definition -> 'fields') with ordinality as p (field, place)
     where p.field = any (explain_match.fields)
  ), total as (
    select sum(t.documents)::bigint as documents,
           greatest(sum((select sum(t.lengths[p.place]) from place p)) / nullif(sum(t.documents), 0), 1)::double precision as average
      from svc_private.search_totals t join searched s on s.id = t.group_id
  ), ending as (
    select e.term, 1 / sqrt(count(*) over ()) as n
      from searched s cross join indexed i
     cross join lateral svc_private.search_endings(
       s.id, i.width, svc_private.search_begun(explain_match.query, explain_match.prefix), 32) as e
  ), asked as (
    select t.term, count(*) as n, sum(t.n) / count(*) as share
      from (
        select t.term collate "C", 1::double precision as n
          from indexed i
         cross join lateral svc_private.search_words(explain_match.query) as word
         cross join lateral svc_private.search_terms(word, (i.definition ->> 'language')::regconfig) as t (term)
        union all
        select e.term collate "C", e.n from ending e
      ) as t
     group by 1
  ), weighed as (
    select a.term, a.n, df.holding, a.share * ln(1 + (total.documents - df.holding + 0.5) / (df.holding + 0.5)) as idf
      from asked a cross join total cross join lateral (
        select sum(c.documents)::bigint as holding
          from searched s cross join indexed i
         cross join lateral (select svc_private.search_key(s.id, a.term, 0, 0, i.width) as low) as k
          join svc_private.search_counters c
            on c.group_id = s.id and c.key between k.low and k.low | (1 << (8 + i.width)) - 1
         where (c.key >> 8) & (select bit_or(1 << (p.place - 1)) from place p) <> 0
      ) as df
     where df.holding > 0
  ), scored as (
    select d.row_id, w.*, f.tf, (select sum(d.lengths[p.place]) from place p) as length
      from svc_private.search_documents d
      join searched s on s.id = d.group_id
     cross join indexed i
     cross join weighed w
     cross join lateral (select svc_private.search_key(s.id, w.term, 0, 0, i.width) as low) as k
     cross join lateral unnest(d.keys) with ordinality as u (key, at)
     cross join lateral (
       -- As in svc_private.score_documents().
       select coalesce(
           (select sum((o & 4294967295) * coalesce(i.weights[1 + ((o >> 32) & 15)], 1))
                     filter (where 1 + ((o >> 32) & 15) in (select p.place from place p))::bigint
              from unnest(d.others) as o where o >> 36 = u.at having count(*) > 0),
           (select (((u.key & 255) >> 5) + 1) * coalesce(i.weights[p.place], 1) from place p where (u.key >> 8) & (1 << (p.place - 1)) <> 0)
         ) as tf
     ) as f
     where d.table_id = i.id and d.row_id = any (explain_match.row_ids) and u.key between k.low and k.low | (1 << (8 + i.width)) - 1
  )
  select s.row_id, s.term, s.n, s.holding, total.documents, s.idf, s.tf, s.length, total.average,
         x.norm, s.n * s.idf * s.tf / (s.tf + x.norm)
    from scored s cross join total cross join indexed i
   cross join lateral svc_private.search_constants(i.definition) as c
   cross join lateral (select c.k1 * (1 - c.b + c.b * s.length / total.average) as norm) as x
   where s.tf > 0
   order by s.row_id, 11 desc, s.term
$$;

comment on function svc_private.explain_match(text, text[], text, text, text, text, boolean, text[]) is
  'For rows and the terms of a query that they have: rarity, frequency, length and what each adds to the BM25 score.';
