-- Takes a conversion on, for as long as `held`, unless somebody else is at it. Called by src/documents/conversion-cache.ts as
-- svc_system, which renews it while it converts: of several that come with the same bytes one converts, and the others
-- wait for its result. A claim and not a lock: a conversion takes minutes, and neither a transaction nor a connection is
-- kept open for it.

create or replace function svc_private.claim_conversion(owner_id text, sha256 text, options text, held interval)
returns uuid  -- null while somebody else is at it, or when the result is there
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
  'Takes a conversion on that nobody is at; null otherwise.';
