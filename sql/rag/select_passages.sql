-- The implementation of svc.find_passages() for all of its callers: the chunks of a scope that answer a question best, from
-- chunks that the executing role may read. Who reads, and how chunks are found under policies, is as in
-- svc_private.select_evidence().
--
-- The candidates are the 200 chunks with the highest weight of the question's words and, with a vector, the 100 nearest.
-- Words are scored by BM25 (k1 1.2, b 0.75): a word that a chunk repeats counts more, a word of a long chunk less. Divided by
-- the weight of all words, the score is 1 for a chunk of usual length that has every word once. With a vector, both scores
-- are added as in svc.search_hybrid(), which says why. Sentences are read of the returned chunks alone.

create or replace function svc_private.select_passages(
  question text,
  stemming regconfig,
  corpus text,
  visibility text,
  owner_id text,       -- null: documents of all owners that the policies show
  source_ids uuid[],   -- null: all documents of the scope
  page_size integer,
  vector real[]        -- of length 1 as a vector, or null
)
returns setof svc_private.passage
language plpgsql  -- plans for the given corpus and owner
stable
set search_path = ''
set jit = off  -- compiling would take longer than running
as $$
#variable_conflict use_column
declare
  candidates constant integer := 100;
begin
  return query
  with asked as materialized (
    select w.* from svc_private.weigh_claims(
      array[question], stemming, select_passages.corpus, select_passages.visibility, select_passages.owner_id) w
  ), near as materialized (
    select best.id, best.similarity
      from svc_private.chunks_by_vector(vector, select_passages.corpus, select_passages.visibility, select_passages.owner_id,
             source_ids, candidates) best
     where vector is not null
  ), shared as materialized (
    select best.id
      from asked a
     cross join lateral svc_private.chunks_by_words(a.queries, a.weights, a.places, source_ids, 2 * candidates) best
  ), found as materialized (
    select c.*, n.similarity, avg(length(c.words)) over () as usual_length
      from shared s
      full join near n using (id)
      join svc.rag_chunks c using (id)
  ), weighed as materialized (
    select f.*, coalesce((
             select sum(one.weight * 2.2 * held.times / (held.times + 1.2 * (0.25 + 0.75 * length(f.words) / f.usual_length)))
               from unnest(a.lexemes, a.weights) as one (lexeme, weight)
               join (select lexeme, coalesce(cardinality(positions), 1) as times from unnest(f.words)) as held using (lexeme)
           ) / nullif(a.weight, 0), 0) as by_words
      from found f
      left join asked a on true
  ), ranked as materialized (
    select w.*, row_number() over (order by w.by_words desc, w.position, w.id) as place from weighed w
  ), legs as (
    -- Contrasts are those of 100 candidates of each leg, as the weight was measured.
    select max(s.by_words) as best_words, min(s.by_words) filter (where s.place <= candidates and s.by_words > 0) as worst_words,
           max(s.similarity) as best_vectors, min(s.similarity) as worst_vectors
      from ranked s
  ), apart as (
    -- At most ten of those that only words found, with the lowest scores.
    select avg(svc_hidden.similarity_of(o.embedding, vector)) as score
      from (
        select s.embedding from ranked s
         where vector is not null and s.similarity is null and s.place <= candidates
           and cardinality(s.embedding) = cardinality(vector)
         order by s.place desc limit 10
      ) as o
  ), emphasis as (
    -- 0 for a leg without candidates.
    select l.*, (l.best_words > 0)::integer as words, case when l.best_vectors is null then 0 else
             svc_hidden.weight_of_vectors(nullif(l.best_words, 0), l.worst_words, l.best_vectors, l.worst_vectors, a.score) end as vectors
      from legs l
     cross join apart a
  ), page as materialized (
    select s.*, case when vector is null then s.by_words else coalesce((
               e.words * coalesce(power(s.by_words / nullif(e.best_words, 0), 3), 0)
               + e.vectors * case
                   when s.similarity is null then 0
                   else coalesce(power((s.similarity - e.worst_vectors) / nullif(e.best_vectors - e.worst_vectors, 0), 3), 1)
                 end
             ) / nullif(e.words + e.vectors, 0), 0) end as score
      from ranked s
     cross join emphasis e
     order by score desc, s.position, s.id
     limit page_size
  )
  select p.source_id, source.title, p.section_id, section.path, p.id, p.text, p.page_start, best.sentence,
         p.similarity, least(1, p.score)
    from page p
    left join asked a on true
    join svc.rag_sections section on section.id = p.section_id
    join svc.rag_sources source on source.id = p.source_id
   cross join lateral (
     select s.sentence from svc_private.cover_sentences(
              p.text, p.sentence_starts, stemming, a.lexemes, a.queries, a.weights, a.weight) s
      order by s.coverage desc nulls last, s.starts limit 1
   ) best
   order by p.score desc, p.position, p.id;
end
$$;

comment on function svc_private.select_passages(text, regconfig, text, text, text, uuid[], integer, real[]) is
  'The chunks of a scope that answer a question best and that the executing role may read.';

grant execute on function svc_private.select_passages(text, regconfig, text, text, text, uuid[], integer, real[])
  to svc_reader_anonymous, svc_reader_authenticated;
