-- A public object by its id, for whoever knows it. Called by ctx.storage (src/context/storage.ts) beside the caller's own
-- rows.
--
-- SECURITY DEFINER instead of a policy "public is seen by everybody": under a policy every caller could list what all
-- others have made public. An id is a secret of 122 random bits until its owner gives it away.

create or replace function svc.find_public_object(object_id uuid)
returns table (id uuid, name text, size double precision, type text, visibility text, sha256 text)
language sql
stable
security definer
rows 1
set search_path = ''
as $$
  select o.id, o.name, o.size::double precision, o.type, o.visibility, o.sha256
    from svc.storage_objects o
   where o.id = object_id and o.visibility = 'public'
$$;

grant execute on function svc.find_public_object(uuid) to svc_anonymous, svc_authenticated, svc_system;

comment on function svc.find_public_object(uuid) is
  'The public object with this id: public ones can be read by id, not listed. '
  'Definer: a policy would let every caller list what others have made public; the id is the secret.';
