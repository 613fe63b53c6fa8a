-- Stores the file for which a call reserved room, in the call's transaction. Called by ctx.storage
-- (src/storage/context.ts) after the bytes are stored.
--
-- SECURITY DEFINER, because it reads the reservation; the policies decide whether the file may be stored. Of the
-- request side only the login may execute it, never the request roles (see svc.enqueue_job): SQL inside a request could
-- name bytes of others and false sizes.

create or replace function svc.store_object(reservation uuid, bytes_id uuid, size bigint, sha256 text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  reserved svc.storage_uploads;
begin
  -- The user before the upload, as the deletion of an account: otherwise the two could wait for each other.
  perform from auth."user" u where u.id = svc.current_user_id() for key share;
  delete from svc.storage_uploads u
   where u.id = reservation and u.kind = 'call' and store_object.size <= u.size
     and (u.by_system or u.user_id is not distinct from svc.current_user_id())
  returning u.* into reserved;
  if not found then
    raise exception 'this file has no reservation' using errcode = 'SV404';
  end if;
  perform svc_private.store_upload(reserved, store_object.bytes_id, store_object.size, store_object.sha256);
end
$$;

grant execute on function svc.store_object(uuid, uuid, bigint, text) to svc_request, svc_system;

comment on function svc.store_object(uuid, uuid, bigint, text) is
  'Turns a reservation of the current user into a stored file; 42501 if a policy refuses it. '
  'Definer: requests may not write rows of files; it takes reservations of the current user, and policies decide.';
