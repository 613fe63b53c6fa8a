-- A stored conversion by its id, which is in the checkpoint of a run. Called by src/documents/conversion-cache.ts as
-- svc_system. The owner is compared too: an id from another source opens nothing.

create or replace function svc_private.read_conversion(id uuid, owner_id text)
returns json  -- null when it was swept
language sql
stable
set search_path = ''
as $$
  select c.result from svc_private.document_conversions c
   where c.id = read_conversion.id and c.owner_id is not distinct from read_conversion.owner_id
$$;

comment on function svc_private.read_conversion(uuid, text) is
  'The result of a cached conversion; null if there is none.';
