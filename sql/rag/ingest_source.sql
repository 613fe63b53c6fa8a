-- Stores a document that has been cut into sections and chunks (src/rag/cut-document.ts), as the caller's own.
-- Called by ctx.rag.ingest (src/context/rag.ts).
--
-- One call is one step: the same document again changes nothing, another text under the same key replaces all of it,
-- and two callers with the same key wait for each other on the row of the source. A source keeps its id when it is
-- replaced; its sections and chunks get new ones, so that a citation never points at words that were not cited.
-- Invoker's rights: the policies decide, and the insert policies refuse an anonymous caller.

create or replace function svc.ingest_source(document jsonb)
returns jsonb  -- {sourceId, status: created | replaced | unchanged, sections, chunks}
language plpgsql
volatile
set search_path = ''
as $$
declare
  owner text := (select svc.current_user_id());
  stemming regconfig := document ->> 'language';
  source svc.rag_sources;
  status text;
begin
  select * into source from svc.rag_sources s
   where s.corpus = document ->> 'corpus' and s.visibility = document ->> 'visibility'
     and s.owner_id is not distinct from owner and s.key = document ->> 'key';
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

    -- What the key held before, or what a caller stored who came between the look and the insert.
    delete from svc.rag_sections where source_id = source.id;

    with sections as (
      select gen_random_uuid() as id, position::integer, section
        from jsonb_array_elements(document -> 'sections') with ordinality as s (section, position)
    ), stored as (
      insert into svc.rag_sections (id, source_id, corpus, visibility, owner_id, position, level, title, path)
      select s.id, source.id, source.corpus, source.visibility, owner, s.position, (s.section ->> 'level')::integer,
             s.section ->> 'title', array(select jsonb_array_elements_text(s.section -> 'path'))
        from sections s
    )
    select jsonb_agg(jsonb_build_object('id', s.id, 'section', s.section) order by s.position) into document
      from sections s;

    -- A statement of its own: the policy looks for the section, which one statement would not see yet.
    insert into svc.rag_chunks (
      section_id, source_id, corpus, visibility, owner_id, position, text, sentence_starts, start_offset, end_offset,
      page_start, page_end, words, embedding
    )
    select (s ->> 'id')::uuid, source.id, source.corpus, source.visibility, owner,
           row_number() over (order by section_position, chunk_position), c ->> 'text',
           array(select jsonb_array_elements_text(c -> 'sentenceStarts')::integer), (c ->> 'start')::integer,
           (c ->> 'end')::integer, (c ->> 'pageStart')::integer, (c ->> 'pageEnd')::integer,
           svc.words_of(concat_ws(' ', source.title, (
             select string_agg(heading, ' ') from jsonb_array_elements_text(s -> 'section' -> 'path') heading
           ), c ->> 'text'), stemming),
           case when c ? 'embedding' then array(select n::real from jsonb_array_elements_text(c -> 'embedding') as n) end
      from jsonb_array_elements(document) with ordinality as sections (s, section_position),
           jsonb_array_elements(s -> 'section' -> 'chunks') with ordinality as chunks (c, chunk_position);
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
  'Stores a document with its sections and chunks for the caller; idempotent by key and checksum.';

grant execute on function svc.ingest_source(jsonb) to svc_authenticated;
