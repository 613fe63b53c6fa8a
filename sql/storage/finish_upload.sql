-- Makes an upload a stored object, in one statement: there is never both, and never neither. Called by
-- src/storage/uploads.ts as svc_system when all bytes lie under the object's key.
--
-- Of two that finish the same upload one does.

create or replace function svc_private.finish_upload(upload uuid, size bigint, sha256 text)
returns boolean
language sql
volatile
set search_path = ''
as $$
  with done as (
    delete from svc.storage_uploads u
     where u.id = upload
       and case when u.token_sha256 is null then u.received = u.size and finish_upload.size = u.size
                else u.claimed_at is not null and finish_upload.size <= u.size end
    returning u.id, u.user_id, u.name, u.type, u.visibility
  ), stored as (
    insert into svc.storage_objects (id, user_id, name, size, type, visibility, sha256)
    select d.id, d.user_id, d.name, finish_upload.size, d.type, d.visibility, finish_upload.sha256 from done d
    returning 1
  )
  select exists (select from stored)
$$;

comment on function svc_private.finish_upload(uuid, bigint, text) is
  'Whether the upload became a stored object just now: it was all there, and not finished or removed meanwhile.';
