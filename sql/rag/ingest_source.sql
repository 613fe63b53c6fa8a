-- Stores a document that has been cut into sections (src/text/cut-document.ts), as the caller's own; svc.add_chunks
-- adds its chunks. Called by ctx.rag.ingest (src/rag/store-document.ts).
--
-- The same document again changes nothing. Another text under the same key replaces all of it. Two callers with the
-- same key wait for each other on the row of the source. A replaced source keeps its id; its sections and chunks get
-- new ids, so that a citation never points at text that was not cited. Invoker's rights: the policies decide, and the
-- insert policies refuse an anonymous caller.

create or replace function svc.ingest_source(document jsonb)
returns jsonb  -- {sourceId, status: created | replaced | unchanged, sections, chunks}
language plpgsql
volatile
set search_path = ''
as $$
declare
  owner text := svc.current_user_id();
  stemming regconfig := document ->> 'language';
  source svc.rag_sources;
  status text;
begin
  select * into source from svc.rag_sources s
   where s.corpus = document ->> 'corpus' and s.visibility = document ->> 'visibility'
     and (s.owner_id = owner or owner is null and s.owner_id is null) and s.key = document ->> 'key';
  if source.checksum is distinct from document ->> 'checksum' then
    status := case when source.id is null then 'created' else 'replaced' end;
    insert into svc.rag_sources (corpus, visibility, owner_id, key, title, uri, storage_id, language, checksum)
    values (
      document ->> 'corpus', document ->> 'visibility', owner, document ->> 'key', document ->> 'title',
      document ->> 'uri', (document ->> 'storageId')::uuid, stemming::text, document ->> 'checksum'
    )
    on conflict (corpus, visibility, owner_id, key) do update
       set title = excluded.title, storage_id = excluded.storage_id, language = excluded.language,
           checksum = excluded.checksum, updated_at = now()
    returning * into source;

    -- The sections of the previous text, or those that another caller stored between the look-up and the insert.
    delete from svc.rag_sections where source_id = source.id;

    insert into svc.rag_sections (source_id, corpus, visibility, owner_id, position, level, title, path)
    select source.id, source.corpus, source.visibility, owner, s.position, (s.section ->> 'level')::integer,
           s.section ->> 'title', array(select jsonb_array_elements_text(s.section -> 'path'))
      from jsonb_array_elements(document -> 'sections') with ordinality as s (section, position);
  end if;

  return jsonb_build_object(
    'sourceId', source.id,
    'status', coalesce(status, 'unchanged'),
    'sections', (select count(*) from svc.rag_sections where source_id = source.id),
    'chunks', (select count(*) from svc.rag_chunks where source_id = source.id)
  );
end
$$;

comment on function svc.ingest_source(jsonb) is
  'Stores a document with its sections for the caller; idempotent by key and checksum.';

grant execute on function svc.ingest_source(jsonb) to svc_authenticated;
