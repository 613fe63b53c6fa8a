-- The implementation of svc.find_evidence() for all of its callers: the sentences that most resemble each of some
-- claims, from chunks that the executing role may read.
--
-- The steps are functions that PostgreSQL inlines, so that all of this is one statement with one plan:
--
--   svc_private.weigh_claims()     the words of each claim, with their weights and the chunks that hold them
--   svc_private.chunks_by_words()  the best of these chunks
--   svc_private.chunks_by_vector() the chunks with the nearest vectors, for a claim with a vector
--   svc_private.cover_sentences()  the sentences of a chunk, with the weight of the claim's words in each
--
-- A sentence covers a claim by the weight of the words that it holds. Of each chunk that a vector found, at least the
-- best sentence is returned. Lexemes of sentences are not stored: there are few here, and storing them would double the
-- index.
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
  with weighed as materialized (
    select w.* from svc_private.weigh_claims(
      claims, stemming, select_evidence.corpus, select_evidence.visibility, select_evidence.owner_id) w
  ), asked as materialized (
    select v.claim::integer, array(select n::real from jsonb_array_elements_text(v.vector) as n) as vector
      from jsonb_array_elements(vectors) with ordinality as v (vector, claim)
     where jsonb_typeof(v.vector) = 'array'
  ), near as materialized (
    select a.claim, best.id, best.similarity
      from asked a
     cross join lateral svc_private.chunks_by_vector(
       a.vector, select_evidence.corpus, select_evidence.visibility, select_evidence.owner_id, source_ids, chunk_limit) best
  ), shared as materialized (
    select w.claim, best.id
      from weighed w
     cross join lateral svc_private.chunks_by_words(w.queries, w.weights, w.places, source_ids, chunk_limit) best
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
    select c.claim, c.id, s.sentence, s.coverage, s.matched, s.missing,
           row_number() over (
             partition by c.claim order by s.coverage desc, c.coverage desc nulls last, c.position, c.id, s.starts
           ) as place,
           row_number() over (partition by c.claim, c.id order by s.coverage desc, s.starts) as place_in_chunk
      from weighed w
      join chunks c using (claim)
     cross join lateral svc_private.cover_sentences(
       c.text, c.sentence_starts, stemming, w.lexemes, w.queries, w.weights, w.weight) s
  )
  select s.claim, c.source_id, source.title, c.section_id, section.path, c.id, c.text, c.page_start, s.sentence,
         s.coverage, coalesce(c.similarity, 0), s.matched, s.missing, c.nearness
    from spoken s
    join chunks c on c.claim = s.claim and c.id = s.id
    join svc.rag_sections section on section.id = c.section_id
    join svc.rag_sources source on source.id = c.source_id
   -- A chunk whose headings alone have the words is there by its first sentence.
   where (s.place <= sentence_limit and (s.coverage > 0 or (c.coverage > 0 and s.place_in_chunk = 1)))
      or (c.nearness is not null and s.place_in_chunk = 1)
   order by s.claim, s.place;
end
$$;

comment on function svc_private.select_evidence(text[], regconfig, text, text, text, uuid[], integer, integer, jsonb) is
  'Sentences of a scope that cover the words of claims and that the executing role may read, best first.';

grant execute on function svc_private.select_evidence(text[], regconfig, text, text, text, uuid[], integer, integer, jsonb)
  to svc_reader_anonymous, svc_reader_authenticated;
