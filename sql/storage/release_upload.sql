-- Releases the claim on a signed URL after a transfer broke off. Called by src/storage/uploads.ts as svc_system.

create or replace function svc_private.release_upload(upload uuid)
returns void
language sql
volatile
set search_path = ''
as $$
  update svc.storage_uploads u set claimed_at = null where u.id = upload
$$;

comment on function svc_private.release_upload(uuid) is 'Makes the signed URL usable again.';
