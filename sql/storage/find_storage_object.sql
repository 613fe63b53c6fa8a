-- Whether the storage route may send an object: it is public, or the request carried a read grant for it. Called by
-- src/storage/route.ts as svc_system, which checks the grant's signature, id and expiry.
--
-- One answer for "private" and "does not exist": nobody learns which ids there are.

create or replace function svc_private.find_storage_object(object_id uuid, has_grant boolean)
returns jsonb
language sql
stable
set search_path = ''
as $$
  select jsonb_build_object(
           'id', o.id, 'name', o.name, 'size', o.size, 'type', o.type, 'visibility', o.visibility, 'sha256', o.sha256)
    from svc.storage_objects o
   where o.id = object_id and (o.visibility = 'public' or has_grant)
$$;

grant execute on function svc_private.find_storage_object(uuid, boolean) to svc_system;

comment on function svc_private.find_storage_object(uuid, boolean) is
  'The object that the storage route may send: a public one, or one that a verified read grant names; else null.';
