-- Ends a reservation with what the call really cost. Called by src/ai/credits.ts as svc_system.
--
-- A call that used more than was reserved is charged in full: the ledger says what happened, and the next call sees it.

create or replace function svc_private.settle_credits(
  reservation bigint, amount numeric, used_input integer, used_output integer
)
returns numeric
language sql
volatile
set search_path = ''
as $$
  update svc.ai_ledger l
     set state = 'settled', charged = settle_credits.amount, settled_at = clock_timestamp(),
         input_tokens = settle_credits.used_input, output_tokens = settle_credits.used_output
   where l.id = settle_credits.reservation and l.state = 'reserved'
  returning l.charged
$$;

grant execute on function svc_private.settle_credits(bigint, numeric, integer, integer) to svc_system;

comment on function svc_private.settle_credits(bigint, numeric, integer, integer) is
  'Charges a reservation, once: null when it was settled or released before.';
