-- Reserves credits for a call, or refuses it. Called by src/ai/credits.ts as svc_system, in a separate transaction:
-- others must see a reservation before the call that it pays for begins.
--
-- Calls of one user wait for each other during this statement, so that the cap is compared with the sum of all their
-- reservations. A reservation that was never settled (the process died) counts until it expires, so the cap is never
-- exceeded. The system and anonymous callers share a cap; rows of deleted users do not count for it.

create or replace function svc_private.reserve_credits(
  user_id text, operation text, model text, amount numeric, request_cap numeric, user_cap numeric
)
returns bigint
language plpgsql
volatile
set search_path = ''
as $$
declare
  spent numeric;
  reservation bigint;
begin
  if amount is null then
    raise exception 'there is no price for the model %', reserve_credits.model
      using errcode = 'SV402', hint = 'Add its row, or the row * for all others, to svc_private.ai_prices.';
  end if;
  if amount > request_cap then
    raise exception 'a call of % credits is above the cap of % for one request', amount, request_cap
      using errcode = 'SV402', hint = 'Request less at once.';
  end if;
  if user_cap is not null and amount > 0 then
    perform pg_advisory_xact_lock(hashtextextended('svc.ai_ledger ' || coalesce(reserve_credits.user_id, ''), 0));
    select coalesce(sum(case when l.state = 'settled' then l.charged else l.reserved end), 0) into spent
      from svc.ai_ledger l
     where (l.user_id = reserve_credits.user_id
            or reserve_credits.user_id is null and l.user_id is null and not l.of_user)
       and l.created_at > clock_timestamp() - interval '24 hours'
       and (l.state = 'settled' or (l.state = 'reserved' and l.expires_at > clock_timestamp()));
    if spent + amount > user_cap then
      raise exception 'a call of % credits after % is above the cap of % in 24 hours', amount, spent, user_cap
        using errcode = 'SV402', hint = 'The cap is for the last 24 hours.';
    end if;
  end if;
  insert into svc.ai_ledger (user_id, of_user, operation, model, reserved, expires_at)
  values (reserve_credits.user_id, reserve_credits.user_id is not null, reserve_credits.operation,
          reserve_credits.model, amount, clock_timestamp() + interval '15 minutes')
  returning id into reservation;
  return reservation;
end
$$;

comment on function svc_private.reserve_credits(text, text, text, numeric, numeric, numeric) is
  'Reserves credits for one call and returns the row of the ledger; SV402 above the cap of the request or of the user, and without a price.';
