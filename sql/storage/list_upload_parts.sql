-- The parts of an upload that have arrived, ordered from the first byte. Called by src/storage/uploads.ts as
-- svc_system.

create or replace function svc_private.list_upload_parts(upload uuid)
returns table (name text, size bigint, sha256 text)
language sql
stable
set search_path = ''
as $$
  select p.name, p.size, p.sha256 from svc.storage_upload_parts p
   where p.upload_id = upload
   order by p.start
$$;

comment on function svc_private.list_upload_parts(uuid) is 'The parts of an upload, in order.';
