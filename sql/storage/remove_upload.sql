-- Cancels an upload. Called by src/storage/uploads.ts as svc_system, with the caller's id; the bytes are removed
-- afterwards.
--
-- An expired upload counts as not existing: the sweep removes its row and bytes.

create or replace function svc_private.remove_upload(upload uuid, owner text)
returns boolean
language sql
volatile
set search_path = ''
as $$
  with removed as (
    delete from svc.storage_uploads u
     where u.id = upload and u.user_id = owner and u.kind = 'parts' and u.expires_at > now()
    returning 1
  )
  select exists (select from removed)
$$;

comment on function svc_private.remove_upload(uuid, text) is
  'Removes an unexpired upload of this user; whether it existed.';
