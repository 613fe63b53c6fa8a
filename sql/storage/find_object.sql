-- The metadata of a file that the caller may see: its own, those that policies of the application show, and public ones
-- by their id. Called by ctx.storage (src/storage/context.ts).

create or replace function svc.find_object(object_id uuid)
returns table (id uuid, bytes_id uuid, name text, size double precision, type text, visibility text, sha256 text)
language sql
stable
rows 1
as $$
  select o.id, coalesce(o.bytes_id, o.id), o.name, o.size::double precision, o.type, o.visibility, o.sha256
    from svc.storage_objects o
   where o.id = object_id
  union all
  select p.id, p.bytes_id, p.name, p.size, p.type, p.visibility, p.sha256 from svc.find_public_object(object_id) p
   limit 1
$$;

grant execute on function svc.find_object(uuid) to svc_anonymous, svc_authenticated;

comment on function svc.find_object(uuid) is
  'The stored file with this id if the caller may see it; public files are found by id. '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';
