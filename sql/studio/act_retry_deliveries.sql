-- An operator's retry of dead deliveries of webhooks, with its line in svc.operator_acts. Called by `svc webhooks retry` and
-- Studio.

create or replace function svc_private.act_retry_deliveries(only_id uuid, only_webhook text)
returns bigint
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  retried constant bigint := svc_private.retry_deliveries(only_id, only_webhook);
begin
  if retried > 0 then
    perform svc_private.note_act('act_retry_deliveries',
      jsonb_build_object('delivery', only_id, 'webhook', only_webhook), format('retried %s', retried));
  end if;
  return retried;
end
$$;

comment on function svc_private.act_retry_deliveries(uuid, text) is
  'Makes dead deliveries pending, one or up to 10,000, writes the act if there are any, and returns how many. '
  'Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_retry_deliveries(uuid, text) to svc_studio_act;
