-- Makes a file public or private where the policies let the caller change it. Called by ctx.storage.setVisibility
-- (src/storage/context.ts).

create or replace function svc.set_object_visibility(object_id uuid, new_visibility text)
returns uuid  -- its id; null when there is no such file that the caller may change
language sql
volatile
set search_path = ''
as $$
  update svc.storage_objects o set visibility = new_visibility where o.id = object_id returning o.id
$$;

grant execute on function svc.set_object_visibility(uuid, text) to svc_anonymous, svc_authenticated;

comment on function svc.set_object_visibility(uuid, text) is
  'Makes a stored file public or private if the policies allow the caller to; returns its id, or null.';
