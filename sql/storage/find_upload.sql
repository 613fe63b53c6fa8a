-- The progress of an upload in parts. Called by src/storage/uploads.ts as svc_system, with the caller's id.
--
-- A finished upload is found among the stored objects: a caller who missed the last answer learns that everything has
-- arrived. For uploads of others and for unknown ids the answer is the same: no row.

create or replace function svc_private.find_upload(upload uuid, owner text)
returns table (received double precision, size double precision, expires_at timestamptz)
language sql
stable
rows 1
set search_path = ''
as $$
  select u.received, u.size, u.expires_at from svc.storage_uploads u
   where u.id = upload and u.user_id = owner and u.kind = 'parts' and u.expires_at > now()
  union all
  select o.size, o.size, null from svc.storage_objects o
   where o.id = upload and o.user_id = owner
$$;

comment on function svc_private.find_upload(uuid, text) is
  'Received bytes of an upload of this user; without an expiry it is already a stored object.';
