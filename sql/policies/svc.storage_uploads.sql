-- Uploads that are under way. Calls reserve one for a signed URL (ctx.storage.createUploadUrl); all else is done by the
-- functions in sql/storage/, as svc_system, which ask whose upload it is.
--
-- Select, update and delete are not granted: a row says how much has arrived, and holds the hash of a token.

alter table svc.storage_uploads enable row level security;

create policy insert_owner on svc.storage_uploads
  for insert to svc_authenticated
  with check (user_id = (select svc.current_user_id()));

-- As files that nobody signed in stored: it will belong to nobody.
create policy insert_anonymous on svc.storage_uploads
  for insert to svc_anonymous
  with check (user_id is null);

grant insert (id, user_id, name, type, visibility, size, token_sha256, expires_at)
  on svc.storage_uploads to svc_anonymous, svc_authenticated;
grant select, insert, update, delete on svc.storage_uploads to svc_system;

comment on policy insert_owner on svc.storage_uploads is 'Users reserve uploads as their own.';
comment on policy insert_anonymous on svc.storage_uploads is 'Who is not signed in reserves uploads that belong to nobody.';
