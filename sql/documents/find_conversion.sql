-- The stored conversion of a file's bytes, if its owner had them converted before in the same way. Called by
-- src/documents/conversion-cache.ts as svc_system, which has checked that the run's user may read the file.

create or replace function svc_private.find_conversion(owner_id text, sha256 text, options text)
returns uuid  -- null when there is none
language sql
volatile
set search_path = ''
as $$
  update svc_private.document_conversions c set used_at = now()
   where (c.owner_id = find_conversion.owner_id or find_conversion.owner_id is null and c.owner_id is null)
     and c.sha256 = find_conversion.sha256 and c.options = find_conversion.options
     and c.result is not null  -- or it is under way
  returning c.id
$$;

comment on function svc_private.find_conversion(text, text, text) is
  'The cached conversion of an owner''s bytes, marked as used; null if there is none.';
