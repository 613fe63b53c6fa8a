-- A kept conversion by its id, which stands in the checkpoint of a run. Called by src/documents/conversion-cache.ts as svc_system.
-- The owner is asked for too: an id that came from elsewhere opens nothing.

create or replace function svc_private.read_conversion(id uuid, owner_id text)
returns json  -- null when it was swept
language sql
stable
set search_path = ''
as $$
  select c.result from svc_private.document_conversions c
   where c.id = read_conversion.id and c.owner_id is not distinct from read_conversion.owner_id
$$;

comment on function svc_private.read_conversion(uuid, text) is 'What a kept conversion gave; null when there is none.';
