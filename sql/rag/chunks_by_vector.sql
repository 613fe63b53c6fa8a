-- The chunks with the vectors nearest to that of a claim or a question. Called by svc_private.select_evidence() and
-- svc_private.select_passages(), into whose statements PostgreSQL expands it.
--
-- The vectors are compared one by one, 384 numbers in about 70 microseconds: meant for scopes, or documents, of some
-- thousand chunks.

create or replace function svc_private.chunks_by_vector(
  vector real[],
  corpus text,
  visibility text,
  owner_id text,
  source_ids uuid[],
  chunk_limit integer
)
returns table (id uuid, similarity double precision)
language sql
stable
as $$
  select s.id, s.similarity
    from (
      select c.id, c.section_id, svc_hidden.similarity_of(c.embedding, vector) as similarity
        from svc.rag_chunks c
       where c.corpus = chunks_by_vector.corpus
         and c.visibility = chunks_by_vector.visibility
         and (chunks_by_vector.owner_id is null or c.owner_id = chunks_by_vector.owner_id)
         and cardinality(c.embedding) = cardinality(vector)
         and (source_ids is null or c.source_id = any (source_ids))
       order by similarity desc, c.id
    ) s
   where exists (
     select from svc.rag_sections x join svc.rag_sources y on y.id = x.source_id where x.id = s.section_id
   )
   order by s.similarity desc, s.id
   limit chunk_limit
$$;

comment on function svc_private.chunks_by_vector(real[], text, text, text, uuid[], integer) is
  'The chunks of a scope with the nearest vectors. Part of svc_private.select_evidence(). '
  'lint:allow function_without_search_path: SET would prevent inlining; it runs under that of its caller.';

grant execute on function svc_private.chunks_by_vector(real[], text, text, text, uuid[], integer)
  to svc_reader_anonymous, svc_reader_authenticated;
