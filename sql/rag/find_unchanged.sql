-- A document of the caller that is stored as it comes again, before anybody takes the trouble to cut it. Called by
-- ctx.rag.ingest (src/context/rag.ts); svc.ingest_source() looks again, for somebody may come in between.

create or replace function svc.find_unchanged(corpus text, visibility text, key text, checksum text)
returns jsonb  -- {sourceId, status: unchanged, sections, chunks}; null when it is not there, or another text is
language sql
stable
set search_path = ''
as $$
  select jsonb_build_object(
           'sourceId', s.id,
           'status', 'unchanged',
           'sections', (select count(*) from svc.rag_sections where source_id = s.id),
           'chunks', (select count(*) from svc.rag_chunks where source_id = s.id)
         )
    from svc.rag_sources s
   where s.corpus = find_unchanged.corpus and s.visibility = find_unchanged.visibility
     and s.owner_id is not distinct from (select svc.current_user_id()) and s.key = find_unchanged.key
     and s.checksum = find_unchanged.checksum
$$;

comment on function svc.find_unchanged(text, text, text, text) is
  'A document of the caller that is stored already, with this very text; null otherwise.';

grant execute on function svc.find_unchanged(text, text, text, text) to svc_authenticated;
