-- Holds on to a conversion that is still under way. Called by src/documents/kept.ts as svc_system.

create or replace function svc_private.renew_claim(claim uuid, held interval)
returns void
language sql
volatile
set search_path = ''
as $$
  update svc_private.document_conversions c set claimed_until = now() + held where c.claim = renew_claim.claim
$$;

grant execute on function svc_private.renew_claim(uuid, interval) to svc_system;

comment on function svc_private.renew_claim(uuid, interval) is 'Holds on to a conversion that is under way.';
