-- The metadata of a file that is the caller's own; the system owns every file. Called by ctx.storage.requireOwned
-- (src/storage/context.ts).

create or replace function svc.find_owned_object(object_id uuid)
returns table (id uuid, name text, size double precision, type text, visibility text)
language sql
stable
rows 1
as $$
  select o.id, o.name, o.size::double precision, o.type, o.visibility
    from svc.storage_objects o
   where o.id = object_id and (current_user = 'svc_system' or svc.owns_object(o.id))
$$;

grant execute on function svc.find_owned_object(uuid) to svc_anonymous, svc_authenticated;

comment on function svc.find_owned_object(uuid) is
  'The stored file with this id if it is the caller''s own or the caller is the system. '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';
