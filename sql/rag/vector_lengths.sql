-- The lengths of the vectors of a scope: one entry, unless several models embedded its documents. Called by
-- ctx.grounding.answer and ctx.rag.search (src/rag/vectors.ts) where claims or questions have vectors. The policies decide
-- which documents are read.

create or replace function svc.vector_lengths(corpus text, visibility text, owner_id text)
returns integer[]
language sql
stable
set search_path = ''
as $$
  select coalesce(array_agg(distinct cardinality(c.embedding)), '{}')
    from svc.rag_chunks c
   where c.corpus = vector_lengths.corpus and c.visibility = vector_lengths.visibility
     and (vector_lengths.owner_id is null or c.owner_id = vector_lengths.owner_id)
     and c.embedding is not null
$$;

comment on function svc.vector_lengths(text, text, text) is
  'Dimensions of the vectors of a scope that the caller may read.';

grant execute on function svc.vector_lengths(text, text, text) to svc_anonymous, svc_authenticated;
