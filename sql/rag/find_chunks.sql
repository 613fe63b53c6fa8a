-- The positions of the chunks of a scope that hold each of some words: candidates for svc_private.select_evidence().
--
-- SECURITY DEFINER, to use the index: matching words is not a leakproof operator, so under a policy PostgreSQL reads
-- every chunk of the scope and checks the words last. The result includes chunks that the caller may not read, so no
-- request may call it: only readers (sql/roles.sql) and the system may.

create or replace function svc_private.find_chunks(queries tsquery[], corpus text, visibility text, owner_id text)
returns table (
  place bigint,  -- position in queries, from 1
  chunks tid[],
  total bigint   -- chunks of the scope
)
language plpgsql  -- plans for the given corpus and owner: few chunks among many are read by their own index
stable
security definer
set search_path = ''
set jit = off
as $$
#variable_conflict use_column
begin
  return query
  select q.place, (
           select array_agg(c.ctid) from svc.rag_chunks c
            where c.words @@ q.query
              and c.corpus = find_chunks.corpus
              and c.visibility = find_chunks.visibility
              and (find_chunks.owner_id is null or c.owner_id = find_chunks.owner_id)
         ), (
           select count(*) from svc.rag_chunks c
            where c.corpus = find_chunks.corpus
              and c.visibility = find_chunks.visibility
              and (find_chunks.owner_id is null or c.owner_id = find_chunks.owner_id)
         )
    from unnest(queries) with ordinality as q (query, place);
end
$$;

comment on function svc_private.find_chunks(tsquery[], text, text, text) is
  'For each query over words, the positions of the matching chunks of a scope, and the scope''s number of chunks; '
  'without policies. '
  'Definer: it reads the index as owner; only readers may call it, and they join its result under the policies.';

grant execute on function svc_private.find_chunks(tsquery[], text, text, text)
  to svc_reader_anonymous, svc_reader_authenticated;
