-- Deliveries of webhooks for `svc webhooks`: the dead first, then the pending, then the sent, each with the newest first, in
-- the order of the index webhook_deliveries_state. Only one that is named by its id has its body: those of many would be long.
--
-- Planned for each call: with the values known, a delivery is found by its id.

create or replace function svc_private.list_deliveries(only_state text, only_id uuid, only_webhook text, most integer)
returns table (
  id uuid, webhook text, state text, source text, endpoint text, row_key text, attempts integer, due_at timestamptz,
  last_status integer, last_error text, created_at timestamptz, ended_at timestamptz, body text
)
language plpgsql
stable
set search_path = ''
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
  select d.id, d.webhook, d.state, d.source, d.endpoint, d.row_key, d.attempts, d.due_at, d.last_status, d.last_error,
         d.created_at, d.ended_at, case when only_id is not null then d.body end
    from unnest(array['dead', 'pending', 'sent']) with ordinality as s (state, place)
   cross join lateral (
     select * from svc.webhook_deliveries w
      where w.state = s.state and (only_id is null or w.id = only_id) and (only_webhook is null or w.webhook = only_webhook)
      order by w.ended_at desc, w.sequence desc
      limit most) d
   where only_state is null or s.state = only_state
   order by s.place, d.ended_at desc, d.sequence desc
   limit most;
end
$$;

comment on function svc_private.list_deliveries(text, uuid, text, integer) is
  'Deliveries of webhooks: dead ones first, then pending, then sent, each with the newest first.';
