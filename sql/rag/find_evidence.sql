-- The sentences that most resemble each of some claims, for ctx.grounding.answer (src/context/grounding.ts), which then
-- judges whether a sentence says what the claim says.
--
-- A claim's words are weighed by how rare they are (the idf of BM25); a sentence covers a claim by the weight of the words
-- that it holds. Rarity is counted among the chunks that the caller may read in the scope: the weights must not tell how
-- often a word occurs in documents of others. Words that every fiftieth chunk holds, or 2,000, weigh chunks without
-- choosing them, unless the claim has no others: they would make a claim cost as much as the corpus is large. Of a long claim
-- only so many of the rarest words choose that some 500,000 looks at words of chunks follow. First the
-- best chunks, found by the index, then the best sentences inside them: lexemes of sentences are not stored, for they are
-- few here and would double the index.
--
-- A claim with a vector also gets the chunks whose vectors are nearest, with at least their best sentence each. Those are
-- compared one by one, 384 numbers in about 70 microseconds: meant for scopes, or documents, of some thousand chunks.
--
-- SECURITY DEFINER, for the index's sake: matching words is no leakproof operator, so that under a policy PostgreSQL reads
-- every chunk of the scope and looks at the words last. `scoped` below therefore says what the policies of svc.rag_chunks
-- say, and tests/rag/tenants.test.ts compares the two.

create or replace function svc.find_evidence(
  claims text[],
  stemming regconfig,
  corpus text,
  visibility text,
  owner_id text,       -- null: documents of all owners whom the policies show
  source_ids uuid[],   -- null: all documents of the scope
  chunk_limit integer,
  sentence_limit integer,
  vectors jsonb default null   -- for each claim an array of numbers, of length 1 as a vector, or null
)
returns table (
  claim integer,          -- position in claims, from 1
  source_id uuid,
  source_title text,
  section_id uuid,
  section_path text[],
  chunk_id uuid,
  chunk_text text,
  page_start integer,
  sentence text,
  coverage double precision,          -- share of the claim's weight in the sentence, 0 to 1
  chunk_coverage double precision,    -- the same in the chunk and its headings, words of the same stem counting in part
  matched text[],                     -- the claim's lexemes in the sentence
  missing text[],                     -- and those that it lacks
  similarity double precision         -- of the chunk's vector to the claim's; null where there are none
)
language plpgsql  -- which plans for the corpus and owner that are asked for: few chunks among many are read by their own index
stable
security definer
set search_path = ''
set jit = off  -- compiling takes longer than what is compiled
as $$
#variable_conflict use_column
begin
  return query
  with scoped as not materialized (
    select c.* from svc.rag_chunks c
     where c.corpus = find_evidence.corpus
       and c.visibility = find_evidence.visibility
       and (find_evidence.owner_id is null or c.owner_id = find_evidence.owner_id)
       and (
         c.visibility = 'public'
         or (c.visibility = 'shared' and (select svc.current_user_id()) is not null)
         or c.owner_id = (select svc.current_user_id())
       )
  ), terms as materialized (
    select one.claim::integer, lexeme, quote_literal(lexeme)::tsquery as query,
           -- methylated for methylation: the stemmer leaves them apart.
           (quote_literal(left(lexeme, greatest(4, length(lexeme) - 3))) || ':*')::tsquery as kin
      from unnest(claims) with ordinality as one (text, claim),
           unnest(tsvector_to_array(svc.words_of(one.text, stemming))) as lexeme
  ), total as materialized (
    select count(*)::double precision as chunks from scoped
  ), weights as materialized (
    select lexeme, n.chunks, ln(1 + (t.chunks - n.chunks + 0.5) / (n.chunks + 0.5)) as weight,
           n.chunks > greatest(2000, t.chunks / 50) as is_common
      from (select distinct lexeme, query from terms) d
     cross join total t
     cross join lateral (select count(*) as chunks from scoped s where s.words @@ d.query) n
  ), ordered as (
    select t.*, w.weight, w.is_common, row_number() over rarest = 1
           or sum(w.chunks) over rarest <= greatest(2000, 500000 / count(*) over (partition by t.claim)) as chooses
      from terms t join weights w using (lexeme)
    window rarest as (partition by t.claim order by w.chunks, lexeme)
  ), weighed as materialized (
    select t.claim, array_agg(t.lexeme) as lexemes, array_agg(t.query) as queries, array_agg(t.kin) as kin,
           array_agg(t.weight) as weights,
           sum(t.weight) as weight, coalesce(
             string_agg(t.query::text, '|') filter (where t.chooses and not t.is_common),
             string_agg(t.query::text, '|') filter (where t.chooses)
           )::tsquery as any_word
      from ordered t
     group by t.claim
  ), asked as materialized (
    select v.claim::integer, array(select n::real from jsonb_array_elements_text(v.vector) as n) as vector
      from jsonb_array_elements(vectors) with ordinality as v (vector, claim)
     where jsonb_typeof(v.vector) = 'array'
  ), near as materialized (
    select a.claim, best.id, best.similarity
      from asked a
     cross join lateral (
       select s.id, svc.similarity_of(s.embedding, a.vector) as similarity
         from scoped s
        where cardinality(s.embedding) = cardinality(a.vector)
          and (source_ids is null or s.source_id = any (source_ids))
        order by similarity desc, s.id
        limit chunk_limit
     ) best
  ), shared as materialized (
    select w.claim, best.id
      from weighed w
     cross join lateral (
       select s.id, (
                select sum(one.weight) from unnest(w.queries, w.weights) as one (query, weight)
                 where s.words @@ one.query
              ) as weight
         from scoped s
        where s.words @@ w.any_word
          and (source_ids is null or s.source_id = any (source_ids))
        order by weight desc, s.position, s.id
        limit chunk_limit
     ) best
  ), chunks as materialized (
    select w.claim, c.*, near.similarity as nearness, (
             select sum(one.weight) from unnest(w.queries, w.weights) as one (query, weight) where c.words @@ one.query
           ) / nullif(w.weight, 0) as coverage, (
             select sum(one.weight * case when c.words @@ one.query then 1 when c.words @@ one.kin then 0.8 else 0 end)
               from unnest(w.queries, w.kin, w.weights) as one (query, kin, weight)
           ) / nullif(w.weight, 0) as similarity
      from (select claim, id from shared union select claim, id from near) found
      join weighed w using (claim)
      join svc.rag_chunks c using (id)
      left join near using (claim, id)
  ), spoken as materialized (
    select c.claim, c.id, sentence.text as sentence, covered.*,
           row_number() over (
             partition by c.claim order by covered.coverage desc, c.coverage desc nulls last, c.position, c.id, sentence.starts
           ) as place,
           row_number() over (partition by c.claim, c.id order by covered.coverage desc, sentence.starts) as place_in_chunk
      from weighed w
      join chunks c using (claim)
     cross join lateral (
       select starts, substr(c.text, starts, coalesce(lead(starts) over (order by starts), length(c.text) + 1) - starts) as text
         from unnest(c.sentence_starts) as starts
     ) sentence
     -- offset 0: computed once for a sentence, not once for each word of the claim.
     cross join lateral (select svc.words_of(sentence.text, stemming) as words offset 0) said
     cross join lateral (
       select coalesce(sum(one.weight) filter (where said.words @@ one.query), 0) / nullif(w.weight, 0) as coverage,
              coalesce(array_agg(one.lexeme) filter (where said.words @@ one.query), '{}') as matched,
              coalesce(array_agg(one.lexeme) filter (where not said.words @@ one.query), '{}') as missing
         from unnest(w.lexemes, w.queries, w.weights) as one (lexeme, query, weight)
     ) covered
  )
  select s.claim, c.source_id, source.title, c.section_id, section.path, c.id, c.text, c.page_start, s.sentence,
         s.coverage, coalesce(c.similarity, 0), s.matched, s.missing, c.nearness
    from spoken s
    join chunks c on c.claim = s.claim and c.id = s.id
    join svc.rag_sections section on section.id = c.section_id
    join svc.rag_sources source on source.id = c.source_id
   where (s.coverage > 0 and s.place <= sentence_limit) or (c.nearness is not null and s.place_in_chunk = 1)
   order by s.claim, s.place;
end
$$;

comment on function svc.find_evidence(text[], regconfig, text, text, text, uuid[], integer, integer, jsonb) is
  'Sentences of a scope that cover the words of claims, best first; weights are counted inside the scope. '
  'Definer: no leakproof operator matches words, so that under a policy every chunk of the scope would be read.';

grant execute on function svc.find_evidence(text[], regconfig, text, text, text, uuid[], integer, integer, jsonb)
  to svc_anonymous, svc_authenticated;
