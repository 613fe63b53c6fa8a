-- Deliveries of webhooks of one state for Studio, newest first, in the order of the index webhook_deliveries_state. Without bodies,
-- which are rows of users. `before` is [ended_at, sequence] of the last one of the page before; a pending one has not ended.

create or replace function svc_private.studio_deliveries(
  only_state text, only_webhook text, before_end timestamptz, before bigint, most integer
)
returns table (
  id uuid, sequence bigint, webhook text, source text, endpoint text, row_key text, attempts integer, due_at timestamptz,
  waits_until timestamptz, last_status integer, last_error text, created_at timestamptz, ended_at timestamptz
)
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return query
    select d.id, d.sequence, d.webhook, case d.source when 'env' then 'env' else to_regclass(d.source)::text end, d.endpoint,
           d.row_key, d.attempts, d.due_at, case when l.busy_until > now() then l.busy_until end,
           d.last_status, left(d.last_error, 500), d.created_at, d.ended_at
      from svc.webhook_deliveries d
      left join svc_private.webhook_leases l on l.source = d.source and l.endpoint = d.endpoint and d.state = 'pending'
     where d.state = only_state and (only_webhook is null or d.webhook = only_webhook)
       and (before is null
            or only_state = 'pending' and d.sequence < before
            or only_state <> 'pending' and (d.ended_at, d.sequence) < (before_end, before))
     order by d.ended_at desc, d.sequence desc
     limit most;
end
$$;

comment on function svc_private.studio_deliveries(text, text, timestamptz, bigint, integer) is
  'Deliveries of webhooks of one state without their bodies, newest first. '
  'Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_deliveries(text, text, timestamptz, bigint, integer) to svc_studio_read;
