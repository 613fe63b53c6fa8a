-- Stored objects in the order of their ids, starting after an id. A walk over all of them stays correct while files are
-- stored and deleted. Called by src/storage/verify.ts as svc_system, first with null, then with the last id.

create or replace function svc_private.next_storage_objects(after uuid, most integer)
returns table (id uuid, bytes_id uuid, size bigint, sha256 text)
language sql
stable
set search_path = ''
as $$
  select o.id, coalesce(o.bytes_id, o.id), o.size, o.sha256 from svc.storage_objects o
   where o.id > coalesce(after, '00000000-0000-0000-0000-000000000000')  -- with "or", the index would not be entered at this id
   order by o.id
   limit most
$$;

comment on function svc_private.next_storage_objects(uuid, integer) is
  'The objects after this id, up to a limit, with the expected size and hash of their bytes.';
