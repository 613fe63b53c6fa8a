-- The byte ids, of those given, that have no row: their transaction rolled back, or their row was deleted. Called by
-- src/storage/sweep.ts as svc_system.

create or replace function svc_private.missing_storage_objects(ids uuid[])
returns setof uuid
language sql
stable
set search_path = ''
as $$
  select wanted.id from unnest(ids) as wanted (id)
   where not exists (select from svc.storage_objects o where coalesce(o.bytes_id, o.id) = wanted.id)
$$;

comment on function svc_private.missing_storage_objects(uuid[]) is 'Those of the byte ids that no stored object has.';
