-- The documents of a scope that the caller may read, newest first. Called by ctx.rag.list (src/rag/context.ts).

create or replace function svc.list_sources(corpus text, visibility text, owner_id text, size integer, skip integer)
returns jsonb  -- an array of {id, title, uri, storageId, language, createdAt, updatedAt, chunks}
language sql
stable
set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
           'id', page.id, 'title', page.title, 'uri', page.uri, 'storageId', page.storage_id, 'language', page.language,
           'createdAt', page.created_at, 'updatedAt', page.updated_at,
           'chunks', (select count(*) from svc.rag_chunks c where c.source_id = page.id)
         ) order by page.created_at desc, page.id), '[]')
    from (
      select * from svc.rag_sources s
       where s.corpus = list_sources.corpus and s.visibility = list_sources.visibility
         and (list_sources.owner_id is null or s.owner_id = list_sources.owner_id)
       order by s.created_at desc, s.id
       limit size offset skip
    ) page
$$;

comment on function svc.list_sources(text, text, text, integer, integer) is
  'The documents of a scope that the caller may read, newest first.';

grant execute on function svc.list_sources(text, text, text, integer, integer) to svc_anonymous, svc_authenticated;
