-- Adds chunks to a document of the caller that svc.ingest_source() has stored with its sections. Called by
-- ctx.rag.ingest (src/rag/store-document.ts), in the same transaction, some hundred chunks at a time: each call is a
-- separate statement, because a large document in one statement would exceed the statement's time limit.
--
-- Invoker's rights: the insert policy checks the section's owner.

create or replace function svc.add_chunks(source_id uuid, chunks jsonb)
returns void
language sql
volatile
set search_path = ''
as $$
  insert into svc.rag_chunks (
    section_id, source_id, corpus, visibility, owner_id, position, text, sentence_starts, start_offset, end_offset,
    page_start, page_end, words, embedding
  )
  select section.id, source.id, source.corpus, source.visibility, source.owner_id, (c ->> 'position')::integer, c ->> 'text',
         array(select jsonb_array_elements_text(c -> 'sentenceStarts')::integer), (c ->> 'start')::integer,
         (c ->> 'end')::integer, (c ->> 'pageStart')::integer, (c ->> 'pageEnd')::integer,
         svc_hidden.words_of(
           concat_ws(' ', source.title, array_to_string(section.path, ' '), c ->> 'text'), source.language::regconfig
         ),
         case when c ? 'embedding' then array(select n::real from jsonb_array_elements_text(c -> 'embedding') as n) end
    from svc.rag_sources source
    join svc.rag_sections section on section.source_id = source.id
    join jsonb_array_elements(add_chunks.chunks) as c on (c ->> 'section')::integer = section.position
   where source.id = add_chunks.source_id
$$;

comment on function svc.add_chunks(uuid, jsonb) is 'Adds chunks to the sections of a document of the caller.';

grant execute on function svc.add_chunks(uuid, jsonb) to svc_authenticated;
