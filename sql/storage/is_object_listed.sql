-- Whether a list of stored files shows the caller this one. It does not show public files of others, which are found by
-- their ids alone. Called by ctx.storage.createReadGrant (src/storage/context.ts).

create or replace function svc.is_object_listed(object_id uuid)
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (select from svc.storage_objects o where o.id = object_id)
$$;

grant execute on function svc.is_object_listed(uuid) to svc_anonymous, svc_authenticated;

comment on function svc.is_object_listed(uuid) is 'Whether the policies show the caller this stored file in a list.';
