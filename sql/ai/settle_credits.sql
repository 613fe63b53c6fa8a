-- Ends a reservation with the actual cost of the call. Called by src/ai/credits.ts as svc_system.
--
-- It never charges more than was reserved: callers rely on their caps, and do not pay for an estimate that was too low.
-- The actual tokens are stored in full, so that an operator sees where estimates are too low.

create or replace function svc_private.settle_credits(
  reservation bigint, amount numeric, used_input integer, used_output integer
)
returns numeric
language sql
volatile
set search_path = ''
as $$
  update svc.ai_ledger l
     set state = 'settled', charged = least(settle_credits.amount, l.reserved), settled_at = clock_timestamp(),
         input_tokens = settle_credits.used_input, output_tokens = settle_credits.used_output
   where l.id = settle_credits.reservation and l.state = 'reserved'
  returning l.charged
$$;

comment on function svc_private.settle_credits(bigint, numeric, integer, integer) is
  'Charges a reservation, once, and at most its amount; null if it was settled or released before.';
