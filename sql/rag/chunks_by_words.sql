-- Of the chunks that the words of a claim select, those with the highest weight of its words. Called by
-- svc_private.select_evidence() and svc_private.select_passages(), into whose statements PostgreSQL expands it.

create or replace function svc_private.chunks_by_words(
  queries tsquery[],
  weights double precision[],
  places tid[],
  source_ids uuid[],
  chunk_limit integer
)
returns table (id uuid)
language sql
stable
as $$
  select s.id
    from (
      select c.id, c.section_id, c.position, (
               select sum(one.weight) from unnest(queries, weights) as one (query, weight) where c.words @@ one.query
             ) as weight
        from svc.rag_chunks c
       where c.ctid = any (places)
         and (source_ids is null or c.source_id = any (source_ids))
       order by weight desc, c.position, c.id
    ) s
   where exists (
     select from svc.rag_sections x join svc.rag_sources y on y.id = x.source_id where x.id = s.section_id
   )
   order by s.weight desc, s.position, s.id
   limit chunk_limit
$$;

comment on function svc_private.chunks_by_words(tsquery[], double precision[], tid[], uuid[], integer) is
  'The chunks at some positions with the highest weight of some words. Part of svc_private.select_evidence(). '
  'lint:allow function_without_search_path: SET would prevent inlining; it runs under that of its caller.';

grant execute on function svc_private.chunks_by_words(tsquery[], double precision[], tid[], uuid[], integer)
  to svc_reader_anonymous, svc_reader_authenticated;
