-- Checks the policies before an upload's bytes arrive: stores the upload and rolls that back. Called by
-- svc_private.start_upload() and svc.open_upload_url(). The checksum is not known yet; zeros stand for it.

create or replace function svc_private.try_to_store(upload svc.storage_uploads, size bigint)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  perform svc_private.store_upload(upload, gen_random_uuid(), try_to_store.size, repeat('0', 64));
  raise exception 'it could be stored' using errcode = 'TRIAL';
exception when sqlstate 'TRIAL' then
  null;  -- the subtransaction has ended, and the row is gone with it
end
$$;

comment on function svc_private.try_to_store(svc.storage_uploads, bigint) is
  'Stores nothing; raises 42501 if a policy would refuse the upload.';
