-- Sections of documents. The visibility decides who reads one: private its owner, shared any signed-in user, public
-- anyone.
--
-- Owners add and delete sections, and never update them: a changed document is cut again. The insert policy checks the
-- document's owner. Without that check, a user could attach text to a document of somebody else that others trust.

alter table svc.rag_sections enable row level security;

create policy select_public on svc.rag_sections
  for select to svc_anonymous, svc_authenticated
  using (visibility = 'public');

create policy select_shared on svc.rag_sections
  for select to svc_authenticated
  using (visibility = 'shared');

create policy select_owner on svc.rag_sections
  for select to svc_authenticated
  using (owner_id = (select svc.current_user_id()));

create policy insert_owner on svc.rag_sections
  for insert to svc_authenticated
  with check (
    owner_id = (select svc.current_user_id())
    and exists (
      select from svc.rag_sources s
       where s.id = rag_sections.source_id and s.owner_id = (select svc.current_user_id())
    )
  );

create policy delete_owner on svc.rag_sections
  for delete to svc_authenticated
  using (owner_id = (select svc.current_user_id()));

grant select on svc.rag_sections to svc_anonymous, svc_authenticated;
grant insert (
  id, source_id, corpus, visibility, owner_id, position, level, title, path
) on svc.rag_sections to svc_authenticated;
grant delete on svc.rag_sections to svc_authenticated;

comment on policy select_public on svc.rag_sections is 'Anyone reads sections of public documents.';
comment on policy select_shared on svc.rag_sections is 'Signed-in users read sections of shared documents.';
comment on policy select_owner on svc.rag_sections is 'Owners read sections of their documents.';
comment on policy insert_owner on svc.rag_sections is 'Owners add sections to their documents.';
comment on policy delete_owner on svc.rag_sections is 'Owners remove sections of their documents.';

comment on column svc.rag_sections.owner_id is
  'As in the source. lint:allow unindexed_policy_column: rows are found by their scope, source or section.';
