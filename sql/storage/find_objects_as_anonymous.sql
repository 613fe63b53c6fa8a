-- The stored files with these ids that the policies show to anonymous callers. Called by svc.find_public_object()
-- and svc_private.find_storage_objects(), for the user of the transaction.
--
-- SECURITY DEFINER, owned by a reader: PostgreSQL applies the policies of svc_anonymous and also select_public, which
-- only readers have. So a public file is found by its id and is in no list, and a restrictive policy of the application
-- hides it here too. An id is a secret of 122 random bits until its owner shares it.

create or replace function svc_hidden.find_objects_as_anonymous(ids uuid[])
returns table (
  id uuid, bytes_id uuid, name text, size double precision, type text, visibility text, sha256 text
)
language plpgsql  -- keeps its plan
stable
security definer
rows 1
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
  select o.id, coalesce(o.bytes_id, o.id), o.name, o.size::double precision, o.type, o.visibility, o.sha256
    from svc.storage_objects o
   where o.id = any (ids);
end
$$;

call svc_private.run_as_reader('svc_hidden.find_objects_as_anonymous(uuid[])', 'svc_reader_anonymous');

comment on function svc_hidden.find_objects_as_anonymous(uuid[]) is
  'Those of these stored files that the caller may see, including public ones. '
  'Definer: a reader owns it, so that public files are found by id and policies for anonymous callers apply.';
