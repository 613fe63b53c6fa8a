-- The terms of a query with their weights, and the classes of their postings. Called by svc_private.find_matches(), whose
-- header has the formula of the score.
--
-- Terms come with the rarest first, and the classes of a term with those first that add most. Terms of feedback count as
-- often as their weights say, beside those of the query.

create or replace function svc_private.read_query(
  searched svc_private.search_query,  -- svc_private.search_group()
  query text,
  endings text[],              -- terms that prefixes are completed to
  language regconfig,
  most_terms integer,          -- the rarest are returned
  feedback svc_private.search_feedback  -- null: none
)
returns svc_private.search_query  -- terms is null where no document has any
language plpgsql
stable
as $$
#variable_conflict use_column
declare
  k1 constant double precision := searched.k1;
  b constant double precision := searched.b;
  average constant double precision := searched.average;
  documents constant double precision := searched.documents;
  kept constant double precision := coalesce(feedback.kept, 1);
  is_whole constant boolean := cardinality(searched.places) = searched.width;  -- all fields are chosen
  rest constant bigint := (1 << (8 + searched.width)) - 1;  -- the bits of a key that are no hash
begin
  with asked as (
    select t.term, sum(t.n) as n
      from (
        select t.term collate "C" as term, kept as n
          from svc_private.search_words(read_query.query) as word
         cross join lateral svc_private.search_terms(word, read_query.language) as t (term)
        union all
        select f.term collate "C", f.weight from unnest(feedback.terms, feedback.weights) as f (term, weight)
        union all
        select ending collate "C", kept / sqrt(cardinality(endings)) from unnest(endings) as ending
      ) as t
     group by 1
  ), class as materialized (
    -- A look-up for each term, so that only the index on keys can be used.
    select a.term, a.n, low.key as low, c.key, c.postings
      from asked a
     cross join lateral (select svc_private.search_key(searched.group_id, a.term, 0, 0, searched.width) as key offset 0) as low
     cross join lateral (
       select c.key, sum(c.documents)::bigint as postings
         from svc_private.search_counters c
        where c.group_id = searched.group_id and c.key between low.key and low.key | rest and (c.key >> 8) & searched.bits <> 0
        group by 1
       having sum(c.documents) > 0
     ) as c
  ), weighed as materialized (
    select term, low, row_number() over (order by weight desc, term) as number, weight
      from (
        select term, low, n * ln(1 + (documents - sum(c.postings) + 0.5) / (sum(c.postings) + 0.5)) as weight
          from class c group by term, low, n
      ) as w
     order by weight desc, term
     limit most_terms
  ), bounded as (
    -- When not all fields are chosen, a class gives an upper bound of the frequencies, and says nothing of lengths. A
    -- posting in several fields has at most the frequency of its class, all of it in the field that counts most.
    select w.number, c.postings, c.key,
           (1 + 1e-9) * w.weight * f.heaviest * r.most / (f.heaviest * r.most + k1 * (1 - b)
             + k1 * b / average * greatest(r.most, case when is_whole then r.shortest end)) as top,
           w.weight * f.usual * r.fewest / (f.usual * r.fewest + k1 * (1 - b)
             + k1 * b / average * case when is_whole then (r.shortest + r.longest) / 2 else average end) as addend
      from weighed w join class c using (term)
     cross join lateral svc_private.search_reach((c.key & 255)::integer) as r
     cross join lateral (
       select coalesce(max(u.weight), 1)::double precision as heaviest, coalesce(avg(u.weight), 1)::double precision as usual
         from unnest(searched.field_weights) with ordinality as u (weight, place)
        where (c.key >> 8) & searched.bits & (1 << (u.place - 1)::integer) <> 0
     ) as f
     order by number, top desc, key
  ), terms as (
    select array_agg(term) as terms, array_agg(weight) as weights, array_agg(low) as lows, array_agg(low | rest) as highs
      from (select * from weighed order by number) as w
  ), classes as (
    select array_agg(number) as term_of, array_agg(top) as tops, array_agg(addend) as addends, array_agg(key) as keys,
           array_agg(postings) as counts
      from bounded
  )
  select t.terms, t.weights, t.lows, t.highs, c.term_of, c.tops, c.addends, c.keys, c.counts
    into searched.terms, searched.weights, searched.lows, searched.highs, searched.term_of, searched.tops,
         searched.addends, searched.keys, searched.counts
    from terms t cross join classes c;
  return searched;
end
$$;

comment on function svc_private.read_query(svc_private.search_query, text, text[], regconfig, integer, svc_private.search_feedback) is
  'The terms of a query, with what the index says of them. Part of svc_private.find_matches(). '
  'lint:allow function_without_search_path: it runs under that of svc_private.find_matches().';
