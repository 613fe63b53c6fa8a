-- What was announced of an upload in parts: the metadata that tus gives back. Called by src/storage/uploads.ts as svc_system,
-- with the caller's id, beside find_upload, which answers the same ids.

create or replace function svc_private.describe_upload(upload uuid, owner text)
returns table (name text, type text, visibility text)
language sql
stable
rows 1
set search_path = ''
as $$
  select u.name, u.type, u.visibility from svc.storage_uploads u
   where u.id = upload and u.user_id = owner and u.kind = 'parts'
  union all
  select o.name, o.type, o.visibility from svc.storage_objects o
   where o.id = upload and o.user_id = owner
$$;

comment on function svc_private.describe_upload(uuid, text) is
  'Name, type and visibility of an upload of this user, or of the stored object that it has become.';
