-- Turns an upload into a stored file, in one statement: at every moment exactly one of the two exists. Called by
-- src/storage/uploads.ts as svc_system when all bytes are stored under an id that no other file has.
--
-- An upload in parts is complete when all of its bytes are recorded, or when none is and one request brought all of them.
--
-- The policies are checked as the upload's owner. A request may last for hours, and its owner may be banned meanwhile; once the ban is
-- over, an upload in parts is finished by the next request. If two calls finish the same upload, one succeeds.

create or replace function svc_private.finish_upload(upload uuid, bytes_id uuid, size bigint, sha256 text)
returns boolean
language plpgsql
volatile
set search_path = ''
as $$
declare
  done svc.storage_uploads;
begin
  -- The user before the upload, as the deletion of an account: otherwise the two could wait for each other.
  perform from auth."user" a
    where a.id = (select u.user_id from svc.storage_uploads u where u.id = upload) for key share;
  delete from svc.storage_uploads u
   where u.id = upload
     and case u.kind when 'parts' then u.received in (0, u.size) and finish_upload.size = u.size
                     when 'url' then u.claimed_at is not null and finish_upload.size <= u.size
                     else false end
     and auth.may_act(u.user_id)
  returning u.* into done;
  if not found then
    return false;
  end if;
  perform svc_private.act_for(done.user_id);
  perform svc_private.store_upload(done, finish_upload.bytes_id, finish_upload.size, finish_upload.sha256);
  return true;
end
$$;

comment on function svc_private.finish_upload(uuid, uuid, bigint, text) is
  'Whether this call turned the upload into a stored file: it was complete, and not finished or removed meanwhile.';
