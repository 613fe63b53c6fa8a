-- Inserts the row of a stored file from an upload, which the caller has deleted. Called by svc_private.finish_upload(),
-- svc.store_object() and svc_private.try_to_store(), in a transaction that runs for the upload's user.

create or replace function svc_private.store_upload(upload svc.storage_uploads, bytes_id uuid, size bigint, sha256 text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  object svc.storage_objects;
begin
  object.id := upload.id;
  object.bytes_id := store_upload.bytes_id;
  object.user_id := upload.user_id;
  object.by_system := upload.by_system;
  object.name := upload.name;
  object.size := store_upload.size;
  object.type := upload.type;
  object.visibility := upload.visibility;
  object.sha256 := store_upload.sha256;
  object.created_at := now();
  perform svc_private.insert_object(object);
end
$$;

comment on function svc_private.store_upload(svc.storage_uploads, uuid, bigint, text) is
  'Stores an upload as a file, with the bytes stored under bytes_id; 42501 if a policy refuses it.';
