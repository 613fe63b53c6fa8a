-- Claims a conversion for the duration `held`, unless another caller holds it. Called by
-- src/documents/conversion-cache.ts as svc_system, which renews the claim while it converts. Of several callers with
-- the same bytes one converts, and the others wait for its result. A claim instead of a lock: a conversion takes
-- minutes, and neither a transaction nor a connection stays open for it.

create or replace function svc_private.claim_conversion(owner_id text, sha256 text, options text, held interval)
returns uuid  -- null while another caller holds it, or when the result exists
language sql
volatile
set search_path = ''
as $$
  insert into svc_private.document_conversions as c (owner_id, sha256, options, claim, claimed_until)
  values (claim_conversion.owner_id, claim_conversion.sha256, claim_conversion.options, gen_random_uuid(), now() + held)
  on conflict (owner_id, sha256, options) do update
     set claim = excluded.claim, claimed_until = excluded.claimed_until
   where c.result is null and c.claimed_until < now()
  returning claim
$$;

comment on function svc_private.claim_conversion(text, text, text, interval) is
  'Claims a conversion that no process runs; null otherwise.';
