-- Documents. The visibility decides who reads one: private its owner, shared any signed-in user, public anyone.
--
-- Only the owner writes, whatever the visibility. UPDATE is granted on the columns that a second ingestion may change.
-- The scope and the owner are not among them, because a document in another scope is another document.

alter table svc.rag_sources enable row level security;

create policy select_public on svc.rag_sources
  for select to svc_anonymous, svc_authenticated
  using (visibility = 'public');

create policy select_shared on svc.rag_sources
  for select to svc_authenticated
  using (visibility = 'shared');

create policy select_owner on svc.rag_sources
  for select to svc_authenticated
  using (owner_id = (select svc.current_user_id()));

create policy insert_owner on svc.rag_sources
  for insert to svc_authenticated
  with check (owner_id = (select svc.current_user_id()));

create policy update_owner on svc.rag_sources
  for update to svc_authenticated
  using (owner_id = (select svc.current_user_id()))
  with check (owner_id = (select svc.current_user_id()));

create policy delete_owner on svc.rag_sources
  for delete to svc_authenticated
  using (owner_id = (select svc.current_user_id()));

grant select on svc.rag_sources to svc_anonymous, svc_authenticated;
grant insert (corpus, visibility, owner_id, key, title, uri, storage_id, language, checksum) on svc.rag_sources to svc_authenticated;
grant update (title, storage_id, language, checksum, updated_at) on svc.rag_sources to svc_authenticated;
grant delete on svc.rag_sources to svc_authenticated;

comment on policy select_public on svc.rag_sources is 'Anyone reads public documents.';
comment on policy select_shared on svc.rag_sources is 'Signed-in users read shared documents.';
comment on policy select_owner on svc.rag_sources is 'Owners read their documents.';
comment on policy insert_owner on svc.rag_sources is 'Users add documents as their own.';
comment on policy update_owner on svc.rag_sources is 'Owners replace their documents.';
comment on policy delete_owner on svc.rag_sources is 'Owners remove their documents.';
