-- Chunks of documents. The visibility decides who reads one: private its owner, shared any signed-in user, public
-- anyone.
--
-- Owners add and delete chunks, and never update them: a changed document is cut again. The insert policy checks the
-- section's owner. Without that check, a user could attach text to a document of somebody else that others trust.

alter table svc.rag_chunks enable row level security;

create policy select_public on svc.rag_chunks
  for select to svc_anonymous, svc_authenticated
  using (visibility = 'public');

create policy select_shared on svc.rag_chunks
  for select to svc_authenticated
  using (visibility = 'shared');

create policy select_owner on svc.rag_chunks
  for select to svc_authenticated
  using (owner_id = (select svc.current_user_id()));

create policy insert_owner on svc.rag_chunks
  for insert to svc_authenticated
  with check (
    owner_id = (select svc.current_user_id())
    and exists (
      select from svc.rag_sections s
       where s.id = rag_chunks.section_id and s.source_id = rag_chunks.source_id and s.owner_id = (select svc.current_user_id())
    )
  );

create policy delete_owner on svc.rag_chunks
  for delete to svc_authenticated
  using (owner_id = (select svc.current_user_id()));

grant select on svc.rag_chunks to svc_anonymous, svc_authenticated;
grant insert (
  id, section_id, source_id, corpus, visibility, owner_id, position, text, sentence_starts, start_offset,
  end_offset, page_start, page_end, words, embedding
) on svc.rag_chunks to svc_authenticated;
grant delete on svc.rag_chunks to svc_authenticated;

comment on policy select_public on svc.rag_chunks is 'Anyone reads chunks of public documents.';
comment on policy select_shared on svc.rag_chunks is 'Signed-in users read chunks of shared documents.';
comment on policy select_owner on svc.rag_chunks is 'Owners read chunks of their documents.';
comment on policy insert_owner on svc.rag_chunks is 'Owners add chunks to their documents.';
comment on policy delete_owner on svc.rag_chunks is 'Owners remove chunks of their documents.';

comment on column svc.rag_chunks.owner_id is
  'As in the source. lint:allow unindexed_policy_column: rows are found by their scope, source or section.';
