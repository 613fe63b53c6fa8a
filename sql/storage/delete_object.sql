-- Deletes the row of a file where the policies let the caller. Called by ctx.storage.delete (src/storage/context.ts),
-- which removes the bytes after COMMIT.

create or replace function svc.delete_object(object_id uuid)
returns uuid  -- which bytes were its own; null when there is no such file that the caller may delete
language sql
volatile
set search_path = ''
as $$
  delete from svc.storage_objects o where o.id = object_id returning coalesce(o.bytes_id, o.id)
$$;

grant execute on function svc.delete_object(uuid) to svc_anonymous, svc_authenticated;

comment on function svc.delete_object(uuid) is
  'Deletes a stored file if the policies allow the caller to; returns the id of its bytes, or null.';
