-- The implementation of svc.find_evidence() for all of its callers: the sentences that most resemble each of some
-- claims, from chunks that the executing role may read.
--
-- A claim's words are weighted by their rarity (the idf of BM25). A sentence covers a claim by the weight of the words
-- that it holds. Rarity is counted among the chunks of the scope that the policies show: the weights must not reveal
-- how often a word occurs in documents of others. Words that every fiftieth chunk holds, or 2,000 chunks, count in
-- scores but select no chunks, unless the claim has no other words: otherwise the cost of a claim would grow with the
-- corpus. Of a long claim only the rarest words select, as many as lead to some 500,000 look-ups of words in chunks.
-- The best chunks are found first, by the index, then the best sentences in them. Lexemes of sentences are not stored:
-- there are few here, and storing them would double the index.
--
-- A claim with a vector also gets the chunks with the nearest vectors, with at least the best sentence of each. Those
-- vectors are compared one by one, 384 numbers in about 70 microseconds: meant for scopes, or documents, of some
-- thousand chunks.
--
-- Invoker's rights: svc_hidden.find_evidence_as_anonymous() and svc_hidden.find_evidence_as_authenticated() execute it as a reader,
-- so that the policies of the request's role apply. svc_private.find_chunks() returns the positions of chunks that hold
-- a word, from the index and without policies. Each of these chunks is read here before it is counted, ordered or
-- limited. Reading by position (`ctid`) needs no index, and a position is stable during a statement. A chunk is
-- evidence only if the caller may also read its section and its document, whose titles are returned. This is checked
-- before the limit, for the best chunks alone.

create or replace function svc_private.select_evidence(
  claims text[],
  stemming regconfig,
  corpus text,
  visibility text,
  owner_id text,       -- null: documents of all owners that the policies show
  source_ids uuid[],   -- null: all documents of the scope
  chunk_limit integer,
  sentence_limit integer,
  vectors jsonb        -- for each claim an array of numbers, of length 1 as a vector, or null
)
returns setof svc_private.evidence
language plpgsql  -- plans for the given corpus and owner
stable
set search_path = ''
set jit = off  -- compiling would take longer than running
as $$
#variable_conflict use_column
begin
  return query
  with scoped as not materialized (
    select c.* from svc.rag_chunks c
     where c.corpus = select_evidence.corpus
       and c.visibility = select_evidence.visibility
       and (select_evidence.owner_id is null or c.owner_id = select_evidence.owner_id)
  ), terms as materialized (
    select one.claim::integer, lexeme, quote_literal(lexeme)::tsquery as query,
           -- methylated for methylation: the stemmer leaves them apart.
           (quote_literal(left(lexeme, greatest(4, length(lexeme) - 3))) || ':*')::tsquery as kin
      from unnest(claims) with ordinality as one (text, claim),
           unnest(tsvector_to_array(svc_hidden.words_of(one.text, stemming))) as lexeme
  ), total as materialized (
    select count(*)::double precision as chunks from scoped
  ), known as materialized (
    -- Of each lexeme the places of the chunks that hold it, hidden ones among them.
    select d.lexeme, d.query, f.chunks as places, f.total
      from (select lexeme, query, row_number() over (order by lexeme) as place from terms group by lexeme, query) d
      join svc_private.find_chunks(
             array(select query from terms group by lexeme, query order by lexeme),
             select_evidence.corpus, select_evidence.visibility, select_evidence.owner_id
           ) f using (place)
  ), weights as materialized (
    select k.lexeme, n.chunks, ln(1 + (t.chunks - n.chunks + 0.5) / (n.chunks + 0.5)) as weight,
           n.chunks > greatest(2000, t.chunks / 50) as is_common
      from known k
     cross join total t
     cross join lateral (
       -- As many chunks are shown as there are: none is hidden, and all of these count.
       select case when k.total = t.chunks then coalesce(cardinality(k.places), 0)
                   else (select count(*) from svc.rag_chunks s where s.ctid = any (k.places)) end as chunks
     ) n
  ), ordered as materialized (
    select t.*, w.weight, w.is_common, row_number() over rarest = 1
           or sum(w.chunks) over rarest <= greatest(2000, 500000 / count(*) over (partition by t.claim)) as chooses
      from terms t join weights w using (lexeme)
    window rarest as (partition by t.claim order by w.chunks, lexeme)
  ), weighed as materialized (
    select t.claim, array_agg(t.lexeme) as lexemes, array_agg(t.query) as queries, array_agg(t.kin) as kin,
           array_agg(t.weight) as weights,
           sum(t.weight) as weight,
           coalesce(bool_or(t.chooses and not t.is_common), false) as has_rare
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
       select s.id, s.similarity
         from (
           select s.id, s.section_id, svc_hidden.similarity_of(s.embedding, a.vector) as similarity
             from scoped s
            where cardinality(s.embedding) = cardinality(a.vector)
              and (source_ids is null or s.source_id = any (source_ids))
            order by similarity desc, s.id
         ) s
        where exists (select from svc.rag_sections x join svc.rag_sources y on y.id = x.source_id where x.id = s.section_id)
        order by s.similarity desc, s.id
        limit chunk_limit
     ) best
  ), shared as materialized (
    select w.claim, best.id
      from weighed w
     cross join lateral (
       select s.id
         from (
           select s.id, s.section_id, s.position, (
                    select sum(one.weight) from unnest(w.queries, w.weights) as one (query, weight)
                     where s.words @@ one.query
                  ) as weight
             from svc.rag_chunks s
            where s.ctid = any (array(
                    select unnest(k.places) from ordered o join known k using (lexeme)
                     where o.claim = w.claim and o.chooses and not (w.has_rare and o.is_common)
                  ))
              and (source_ids is null or s.source_id = any (source_ids))
            order by weight desc, s.position, s.id
         ) s
        where exists (select from svc.rag_sections x join svc.rag_sources y on y.id = x.source_id where x.id = s.section_id)
        order by s.weight desc, s.position, s.id
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
     cross join lateral (select svc_hidden.words_of(sentence.text, stemming) as words offset 0) said
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

comment on function svc_private.select_evidence(text[], regconfig, text, text, text, uuid[], integer, integer, jsonb) is
  'Sentences of a scope that cover the words of claims, best first, as the executing role may read them.';

grant execute on function svc_private.select_evidence(text[], regconfig, text, text, text, uuid[], integer, integer, jsonb)
  to svc_reader_anonymous, svc_reader_authenticated;
