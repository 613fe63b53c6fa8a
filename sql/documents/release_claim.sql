-- Releases the claim on a failed conversion: callers that wait for it then try themselves. Called by
-- src/documents/conversion-cache.ts as svc_system.

create or replace function svc_private.release_claim(claim uuid)
returns void
language sql
volatile
set search_path = ''
as $$
  delete from svc_private.document_conversions c where c.claim = release_claim.claim and c.result is null
$$;

comment on function svc_private.release_claim(uuid) is 'Releases the claim on a failed conversion.';
