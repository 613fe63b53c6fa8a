-- Opens a signed URL for a reservation, in the call's transaction: if the call fails, no URL stays valid. Called by
-- ctx.storage.createUploadUrl (src/storage/upload-url.ts). Only the URL contains the token; this function gets its
-- hash.
--
-- SECURITY DEFINER, and only the login of requests and svc_system may execute it: as svc.store_object().

create or replace function svc.open_upload_url(reservation uuid, token_sha256 text, lifetime interval)
returns timestamptz
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  opened svc.storage_uploads;
begin
  -- Before the update: it locks the user for a moment, and the deletion of an account locks the user before the upload.
  perform svc_private.try_to_store(u, u.size) from svc.storage_uploads u
    where u.id = reservation and u.kind = 'call' and (u.by_system or u.user_id is not distinct from svc.current_user_id());
  update svc.storage_uploads u
     set kind = 'url', token_sha256 = open_upload_url.token_sha256, expires_at = now() + lifetime
   where u.id = reservation and u.kind = 'call'
     and (u.by_system or u.user_id is not distinct from svc.current_user_id())
  returning u.* into opened;
  if not found then
    raise exception 'this upload has no reservation' using errcode = 'SV404';
  end if;
  return opened.expires_at;
end
$$;

grant execute on function svc.open_upload_url(uuid, text, interval) to svc_request, svc_system;

comment on function svc.open_upload_url(uuid, text, interval) is
  'When the signed URL of a reservation expires; 42501 if a policy would refuse the file. '
  'Definer: requests may not read reservations; it takes only those of the current user.';
