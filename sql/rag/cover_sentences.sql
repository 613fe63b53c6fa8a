-- The sentences of a chunk, with the weight of a claim's words in each. Called by svc_private.select_evidence() and
-- svc_private.select_passages(), into whose statements PostgreSQL expands it.

create or replace function svc_private.cover_sentences(
  chunk text,
  sentence_starts integer[],
  stemming regconfig,
  lexemes text[],
  queries tsquery[],
  weights double precision[],
  weight double precision
)
returns table (starts integer, sentence text, coverage double precision, matched text[], missing text[])
language sql
stable
as $$
  select s.starts, s.text, covered.coverage, covered.matched, covered.missing
    from (
      select one.starts, substr(
               chunk, one.starts, coalesce(lead(one.starts) over (order by one.starts), length(chunk) + 1) - one.starts
             ) as text
        from unnest(sentence_starts) as one (starts)
    ) s
    -- offset 0: computed once for a sentence, not once for each word of the claim.
   cross join lateral (select svc_hidden.words_of(s.text, stemming) as words offset 0) said
   cross join lateral (
     select coalesce(sum(one.weight) filter (where said.words @@ one.query), 0) / nullif(cover_sentences.weight, 0) as coverage,
            coalesce(array_agg(one.lexeme) filter (where said.words @@ one.query), '{}') as matched,
            coalesce(array_agg(one.lexeme) filter (where not said.words @@ one.query), '{}') as missing
       from unnest(lexemes, queries, weights) as one (lexeme, query, weight)
   ) covered
$$;

comment on function svc_private.cover_sentences(text, integer[], regconfig, text[], tsquery[], double precision[], double precision) is
  'The sentences of a chunk, with the weight of some words in each. Part of svc_private.select_evidence(). '
  'lint:allow function_without_search_path: SET would prevent inlining; it runs under that of its caller.';

grant execute on function svc_private.cover_sentences(text, integer[], regconfig, text[], tsquery[], double precision[], double precision)
  to svc_reader_anonymous, svc_reader_authenticated;
