-- Sends dead deliveries again, with all their attempts; those of webhooks that are still declared. Called by
-- svc_private.act_retry_deliveries(). A delivery that comes back takes its place before later ones of its row that wait, and
-- after those that have been sent.

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
  update svc.webhook_deliveries d
     set state = 'pending', attempts = 0, due_at = now(), ended_at = null
   where d.state = 'dead' and (only_id is null or d.id = only_id) and (only_webhook is null or d.webhook = only_webhook)
     and d.webhook in (select w.name from svc_private.list_webhooks() w);
  get diagnostics retried = row_count;
  perform pg_catalog.pg_notify('svc_webhooks', '');
  return retried;
end
$$;

comment on function svc_private.retry_deliveries(uuid, text) is
  'Makes dead deliveries pending, one or all, and returns how many. '
  'Definer: svc_system only reads svc.webhook_deliveries, and may not notify its workers.';
