-- Which objects the storage route may send: those that are public, and those for which the request carried a read grant.
-- Called by src/storage/find-objects.ts as svc_system, which checks a grant's signature, id and expiry; once for all
-- requests that arrived together.
--
-- One answer for "private" and "does not exist", none: nobody learns which ids there are. plpgsql keeps its plan.

create or replace function svc_private.find_storage_objects(ids uuid[], granted boolean[])
returns table (at integer, id uuid, name text, size double precision, type text, visibility text, sha256 text)
language plpgsql
stable
rows 10
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
  select wanted.at::integer, o.id, o.name, o.size::double precision, o.type, o.visibility, o.sha256
    from unnest(ids, granted) with ordinality as wanted (id, is_granted, at)
    join svc.storage_objects o on o.id = wanted.id
   where o.visibility = 'public' or wanted.is_granted;
end
$$;

comment on function svc_private.find_storage_objects(uuid[], boolean[]) is
  'Of what is asked for, by place from 1 on: the objects that are public, or that a verified read grant names.';
