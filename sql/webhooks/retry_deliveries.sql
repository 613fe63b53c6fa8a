-- Sends dead deliveries again, with all their attempts; those of webhooks that are still declared and have receivers. Called by
-- svc_private.act_retry_deliveries() and svc_hidden.retry_delivery_as_authenticated(). A delivery that comes back takes its place
-- before later ones of its row that wait, and after those that have been sent. It does not wait for what the receiver has asked for
-- by Retry-After.
--
-- A call takes at most 10,000, those that died first before others: `svc webhooks retry --dead` calls until fewer are left. All at once
-- could take longer than a statement may.
--
-- Deliveries that are locked are left out: another call sends them again, or the sweep removes them. It waits for leases alone, so
-- it cannot wait for a worker that waits for it.

create or replace function svc_private.retry_deliveries(only_id uuid, only_webhook text)
returns bigint
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  retried bigint;
begin
  with again as (
    update svc.webhook_deliveries d
       set state = 'pending', attempts = 0, due_at = now(), ended_at = null
     where d.id = any (array(
       select c.id from svc.webhook_deliveries c
        where c.state = 'dead' and (only_id is null or c.id = only_id) and (only_webhook is null or c.webhook = only_webhook)
          and c.webhook in (select w.name from svc_private.list_webhooks() w where not w.declared ? 'procedure')
        order by c.ended_at
        limit 10000
          for update skip locked))
    returning d.source, d.endpoint
  ), waiting as (
    select l.source, l.endpoint
      from svc_private.webhook_leases l
     where l.busy_until > clock_timestamp()
       and exists (select from again a where a.source = l.source and a.endpoint = l.endpoint)
     order by l.source, l.endpoint  -- in the order of svc_private.claim_deliveries()
       for update
  ), freed as (
    update svc_private.webhook_leases l set busy_until = clock_timestamp()
      from waiting w where l.source = w.source and l.endpoint = w.endpoint
  )
  select count(*) into retried from again;
  perform pg_catalog.pg_notify('svc_webhooks', '');
  return retried;
end
$$;

comment on function svc_private.retry_deliveries(uuid, text) is
  'Makes dead deliveries pending, one or up to 10,000, and returns how many. '
  'Definer: svc_system only reads svc.webhook_deliveries, and may not notify its workers.';
