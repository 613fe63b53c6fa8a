-- The upload ids, of those given, that have no upload: it was finished, given up or expired, or its user was deleted.
-- Called by src/storage/sweep.ts as svc_system.

create or replace function svc_private.missing_uploads(ids uuid[])
returns setof uuid
language sql
stable
set search_path = ''
as $$
  select wanted.id from unnest(ids) as wanted (id)
   where not exists (select from svc.storage_uploads u where u.id = wanted.id)
$$;

comment on function svc_private.missing_uploads(uuid[]) is 'Those of the ids that no unfinished upload has.';
