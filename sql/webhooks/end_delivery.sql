-- Records how an attempt to send ended, and frees its place at the endpoint. Called by src/webhooks/sender.ts. An attempt whose
-- lease has ended, and that another worker has begun anew, changes nothing. Neither does an attempt whose end is stored: the
-- sender calls again if it lost the answer, and is told the stored state.
--
-- An endpoint that has answered gets one delivery more at the same time, at most ten; one that has failed gets one. The next delivery of
-- the row becomes due, if only this one kept it waiting.
--
-- Eleven attempts over about a day: after 5 seconds, then four times as long each time, at most 6 hours, each a fifth more or
-- less. A receiver that answers 410 wants no further attempt; its endpoint is not changed, because only its owner switches it
-- off.
--
-- `wait_ms` is what the receiver asks for by Retry-After, at most a day: neither this delivery nor another one is sent to the
-- endpoint before. A wait that is shorter than ours shortens nothing.
--
-- A pending delivery is told by `ended_at`: with `state = 'pending'` PostgreSQL takes an index of all pending ones where its statistics
-- say that there are none.
--
-- SECURITY DEFINER, because svc_system only reads the deliveries.

create or replace function svc_private.end_delivery(
  delivery uuid, attempt integer, status integer, error text, wait_ms integer
)
returns text
language plpgsql
volatile
security definer
set search_path = ''
set enable_sort = off  -- the next one of the row is found by the row's index, as in svc_private.claim_deliveries()
set jit = off
as $$
declare
  ended svc.webhook_deliveries;
  asked constant interval := coalesce(wait_ms, 0) * interval '1 millisecond';
begin
  -- The lease before the delivery, as in svc_private.claim_deliveries(): otherwise the two could wait for each other.
  perform from svc.webhook_deliveries d join svc_private.webhook_leases l on l.source = d.source and l.endpoint = d.endpoint
    where d.id = end_delivery.delivery for no key update of l;
  update svc.webhook_deliveries d
     set state = n.state, last_status = end_delivery.status, last_error = end_delivery.error,
         ended_at = case when n.state <> 'pending' then clock_timestamp() end,
         due_at = case when n.state <> 'pending' then d.due_at
                       else clock_timestamp() + greatest(asked,
                              least(interval '5 seconds' * power(4, least(attempt, 10) - 1), interval '6 hours')
                                * (0.8 + 0.4 * random())) end
    from (select case when end_delivery.error is null then 'sent'
                      when end_delivery.status = 410 or attempt >= 11 then 'dead'
                      else 'pending' end as state) n
   where d.id = delivery and d.attempts = attempt and d.ended_at is null
  returning d.* into ended;
  update svc_private.webhook_leases l
     set sending = array_remove(l.sending, ended.id), busy_until = greatest(l.busy_until, clock_timestamp() + asked),
         places = case when ended.state = 'sent' then least(l.places + 1, 10) else 1 end
   where l.source = ended.source and l.endpoint = ended.endpoint;
  if ended.state <> 'pending' then
    update svc.webhook_deliveries d
       set due_at = d.created_at
     where d.id = (select n.id from svc.webhook_deliveries n
                    where n.source = ended.source and n.endpoint = ended.endpoint and n.row_key >= ended.row_key and n.state = 'pending'
                    order by n.row_key, n.sequence limit 1 for update skip locked)
       and d.row_key = ended.row_key and d.due_at > clock_timestamp() and (d.attempts = 0 or d.due_at = ended.due_at);
  end if;
  return coalesce(ended.state, (select d.state from svc.webhook_deliveries d
                                 where d.id = end_delivery.delivery and d.attempts = end_delivery.attempt));
end
$$;

comment on function svc_private.end_delivery(uuid, integer, integer, text, integer) is
  'Records an attempt: sent without an error, else pending until the next attempt, or dead; null if another has begun. '
  'Definer: svc_system only reads svc.webhook_deliveries.';

-- Workers of the previous version call it. It goes with the next version.
create or replace function svc_private.end_delivery(delivery uuid, attempt integer, status integer, error text)
returns text
language sql
volatile
set search_path = ''
as $$
  select svc_private.end_delivery(delivery, attempt, status, error, null)
$$;

comment on function svc_private.end_delivery(uuid, integer, integer, text) is
  'svc_private.end_delivery() without a wait.';
