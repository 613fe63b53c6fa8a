-- Releases a reservation: the call was not made, or failed before it used anything. Called by src/ai/credits.ts as
-- svc_system.

create or replace function svc_private.release_credits(reservation bigint)
returns void
language sql
volatile
set search_path = ''
as $$
  update svc.ai_ledger l set state = 'released', settled_at = clock_timestamp()
   where l.id = release_credits.reservation and l.state = 'reserved'
$$;

comment on function svc_private.release_credits(bigint) is 'Releases a reservation; nothing is charged.';
