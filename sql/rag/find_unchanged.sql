-- Finds a document of the caller that is already stored with the same text, before it is cut and its vectors are
-- computed. Called by ctx.rag.ingest (src/rag/context.ts).
--
-- If several callers bring the same document at the same time, the others wait here until the first has committed, and
-- then find it: the lock is held to the end of the transaction. Two transactions that bring two documents in opposite
-- order may deadlock, as on any two rows; one of them gets a conflict.

create or replace function svc.find_unchanged(corpus text, visibility text, key text, checksum text)
returns jsonb  -- {sourceId, status: unchanged, sections, chunks}; null when it is not stored, or with another text
language plpgsql
volatile
set search_path = ''
as $$
declare
  owner constant text := svc.current_user_id();
begin
  perform svc_hidden.lock_document(corpus, visibility, key);
  -- A separate statement, so that it sees rows that were committed while the lock was awaited.
  return (
    select jsonb_build_object(
             'sourceId', s.id,
             'status', 'unchanged',
             'sections', (select count(*) from svc.rag_sections where source_id = s.id),
             'chunks', (select count(*) from svc.rag_chunks where source_id = s.id)
           )
      from svc.rag_sources s
     where s.corpus = find_unchanged.corpus and s.visibility = find_unchanged.visibility
       and (s.owner_id = owner or owner is null and s.owner_id is null) and s.key = find_unchanged.key
       and s.checksum = find_unchanged.checksum
  );
end
$$;

comment on function svc.find_unchanged(text, text, text, text) is
  'A document of the caller that is already stored with exactly this text; null otherwise. Waits for a transaction '
  'that stores it.';

grant execute on function svc.find_unchanged(text, text, text, text) to svc_authenticated;
