-- A section with its whole text, for a reader who opens a citation. Called by ctx.rag.section (src/rag/context.ts). The
-- policies decide: a section of somebody else gives the same answer as a missing one.

create or replace function svc.read_section(id uuid)
returns jsonb  -- {id, sourceId, sourceTitle, sourceUri, sourceStorageId, title, path, pageStart, text}, or null
language sql
stable
set search_path = ''
as $$
  select jsonb_build_object(
           'id', section.id, 'sourceId', source.id, 'sourceTitle', source.title, 'sourceUri', source.uri,
           'sourceStorageId', source.storage_id,
           'title', section.title, 'path', section.path,
           'pageStart', (select min(c.page_start) from svc.rag_chunks c where c.section_id = section.id),
           'text', coalesce((
             select string_agg(c.text, E'\n\n' order by c.position) from svc.rag_chunks c where c.section_id = section.id
           ), '')
         )
    from svc.rag_sections section
    join svc.rag_sources source on source.id = section.source_id
   where section.id = read_section.id
$$;

comment on function svc.read_section(uuid) is
  'A section that the caller may read, with its text; null if there is none.';

grant execute on function svc.read_section(uuid) to svc_anonymous, svc_authenticated;
