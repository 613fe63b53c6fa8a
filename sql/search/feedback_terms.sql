-- The terms that the best rows of a search add to its query: pseudo-relevance feedback by a relevance model, RM3. Called by
-- svc_private.select_matches(), which reads the texts of rows that the caller may read.
--
-- A term's share is the sum over the rows of (score / all scores) * (how often the row has it / its length): Lavrenko and
-- Croft, "Relevance based language models", SIGIR 2001. The most frequent terms by that share stay, and are mixed with the
-- query: Abdul-Jaleel et al., "UMass at TREC 2004: Novelty and HARD". Then each term counts by its rarity, as always.
--
-- Nothing here is read from the index, so that no term of a hidden row is added and none changes the shares.
--
-- SECURITY DEFINER only to call the functions that split and stem; it reads no table.

create or replace function svc_private.feedback_terms(
  query text,
  texts text[],
  scores double precision[],
  language text,
  wanted jsonb  -- {terms, weight}: how many, and what share of the query they are
)
returns svc_private.search_feedback
language sql
stable
security definer
set search_path = ''
as $$
  with word as (
    select t.nth, w.word, count(*) as n
      from unnest(texts) with ordinality as t (content, nth) cross join lateral svc_private.search_words(t.content) as w (word)
     group by 1, 2
  ), stem as materialized (
    select w.word, t.term collate "C" as term
      from (select distinct word from word) as w cross join lateral svc_private.search_terms(w.word, language::regconfig) as t (term)
  ), counted as (
    select w.nth, s.term, sum(w.n) / sum(sum(w.n)) over (partition by w.nth) as share
      from word w join stem s using (word)
     group by 1, 2
  ), chosen as (
    select term, sum(share * scores[nth])::double precision as share
      from counted group by 1 order by 2 desc, 1
     limit least((wanted ->> 'terms')::integer, 30)
  ), mixed as (
    select least(greatest((wanted ->> 'weight')::double precision, 0), 1) as weight,
           (select count(*) from svc_private.search_words(query) as word
             cross join lateral svc_private.search_terms(word, language::regconfig)) as length
  )
  select row(1 - m.weight, c.terms, c.weights)::svc_private.search_feedback
    from mixed m
   cross join lateral (
     select array_agg(c.term) as terms, array_agg(m.weight * m.length * c.share / c.all_shares) as weights
       from (select *, sum(share) over () as all_shares from chosen) as c
   ) as c
   where c.terms is not null
$$;

comment on function svc_private.feedback_terms(text, text[], double precision[], text, jsonb) is
  'The terms that texts add to a query, with their weights. Part of svc_private.select_matches(). '
  'Definer: the functions for splitting and stemming are internal; it reads no table.';

grant execute on function svc_private.feedback_terms(text, text[], double precision[], text, jsonb)
  to svc_reader_anonymous, svc_reader_authenticated;
