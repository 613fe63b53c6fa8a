-- Renews the claim on a conversion in progress. Called by src/documents/conversion-cache.ts as svc_system.

create or replace function svc_private.renew_claim(claim uuid, held interval)
returns void
language sql
volatile
set search_path = ''
as $$
  update svc_private.document_conversions c set claimed_until = now() + held where c.claim = renew_claim.claim
$$;

comment on function svc_private.renew_claim(uuid, interval) is 'Renews the claim on a running conversion.';
