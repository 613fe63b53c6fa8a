-- Stored objects in the order of their ids, from one id on: a walk over all of them that survives what is stored and deleted
-- meanwhile. Called by src/storage/verify.ts as svc_system, with null first and the last id then.

create or replace function svc_private.next_storage_objects(after uuid, most integer)
returns table (id uuid, bytes_id uuid, size bigint, sha256 text)
language sql
stable
set search_path = ''
as $$
  select o.id, coalesce(o.bytes_id, o.id), o.size, o.sha256 from svc.storage_objects o
   where after is null or o.id > after
   order by o.id
   limit most
$$;

comment on function svc_private.next_storage_objects(uuid, integer) is
  'The objects behind this id, at most so many, with what their bytes must be.';
