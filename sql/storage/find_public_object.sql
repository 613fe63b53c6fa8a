-- A public file by its id, for a caller who knows the id. Called by svc.find_object() in addition to the rows that
-- the caller may list, and by SQL of applications.
--
-- The policies decide whether the caller may see it, in svc_hidden.find_objects_as_…; the role decides which of the two
-- functions is called. No role may execute the other one.

create or replace function svc.find_public_object(object_id uuid)
returns table (
  id uuid, bytes_id uuid, name text, size double precision, type text, visibility text, sha256 text
)
language plpgsql
stable
rows 1
set search_path = ''
as $$
#variable_conflict use_column
begin
  if current_user = 'svc_authenticated' then
    return query select o.* from svc_hidden.find_objects_as_authenticated(array[object_id]) o where o.visibility = 'public';
  elsif current_user = 'svc_anonymous' then
    return query select o.* from svc_hidden.find_objects_as_anonymous(array[object_id]) o where o.visibility = 'public';
  else  -- the system, and functions of the application that run as the owner of the tables
    return query
    select o.id, coalesce(o.bytes_id, o.id), o.name, o.size::double precision, o.type, o.visibility, o.sha256
      from svc.storage_objects o
     where o.id = object_id and o.visibility = 'public';
  end if;
end
$$;

grant execute on function svc.find_public_object(uuid) to svc_anonymous, svc_authenticated, svc_system;

comment on function svc.find_public_object(uuid) is
  'The public file with this id if the policies let the caller see it: public files can be read by id, not listed.';
