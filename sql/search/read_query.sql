-- The terms of a query with their weights, and the classes of their postings. Called by svc_private.find_matches(), whose
-- header has the formula of the score.
--
-- Terms come with the rarest first, and the classes of a term with those first that add most.

create or replace function svc_private.read_query(
  searched integer,            -- the group
  query text,
  endings text[],              -- terms that a prefix completes to
  language regconfig,
  places integer[],            -- of the fields
  is_whole boolean,            -- all fields are chosen
  documents double precision,
  average double precision,    -- length of a document
  k1 double precision,
  b double precision,
  most_terms integer           -- the rarest are returned
)
returns svc_private.search_query  -- terms is null where no document has any
language plpgsql
stable
as $$
#variable_conflict use_column
declare
  bits constant integer := (select bit_or(1 << (p - 1)) from unnest(places) as p);
  result svc_private.search_query;
begin
  result.group_id := searched;
  result.documents := read_query.documents;
  with asked as (
    select t.term collate "C" as term, count(*) as n
      from svc_private.search_words(read_query.query) as word
     cross join lateral svc_private.search_terms(word, read_query.language) as t (term)
     group by 1
    union all
    select ending, 1 from unnest(endings) as ending
  ), class as materialized (
    -- A look-up for each term, so that only the index on terms can be used.
    select a.term, a.n, c.fields, c.class, c.postings
      from asked a
     cross join lateral (
       select c.fields, c.class::integer as class, sum(c.documents)::bigint as postings
         from svc_private.search_counters c
        where c.group_id = searched and c.term = a.term and c.fields & bits <> 0
        group by 1, 2
       having sum(c.documents) > 0
     ) as c
  ), weighed as (
    select term, row_number() over (order by weight desc, term) as number, weight
      from (
        select term, n * ln(1 + (read_query.documents - sum(c.postings) + 0.5) / (sum(c.postings) + 0.5)) as weight
          from class c group by term, n
      ) as w
     order by weight desc, term
     limit most_terms
  ), bounded as (
    -- When not all fields are chosen, a class gives an upper bound of the frequencies, and says nothing of lengths.
    select w.number, c.postings, svc_private.search_key(searched, c.term, c.fields, c.class) as key,
           (1 + 1e-9) * w.weight * r.most / (r.most + k1 * (1 - b)
             + k1 * b / average * greatest(r.most, case when is_whole then r.shortest end)) as top,
           w.weight * r.fewest / (r.fewest + k1 * (1 - b)
             + k1 * b / average * case when is_whole then (r.shortest + r.longest) / 2 else average end) as addend
      from weighed w join class c using (term)
     cross join lateral svc_private.search_reach(c.class) as r
  )
  select (select array_agg(term order by number) from weighed), (select array_agg(weight order by number) from weighed),
         array_agg(number order by number, top desc, key), array_agg(top order by number, top desc, key),
         array_agg(addend order by number, top desc, key), array_agg(key order by number, top desc, key),
         array_agg(postings order by number, top desc, key)
    into result.terms, result.weights, result.term_of, result.tops, result.addends, result.keys, result.counts
    from bounded;

  result.lows := array(select svc_private.search_key(searched, term, 0, 0) from unnest(result.terms) as term);
  result.highs := array(select svc_private.search_key(searched, term, 65535, 255) from unnest(result.terms) as term);
  return result;
end
$$;

comment on function svc_private.read_query(integer, text, text[], regconfig, integer[], boolean, double precision, double precision, double precision, double precision, integer) is
  'The terms of a query, with what the index says of them. Part of svc_private.find_matches(). '
  'lint:allow function_without_search_path: it runs under that of svc_private.find_matches().';
