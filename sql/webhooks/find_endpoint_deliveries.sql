-- Deliveries to an endpoint, newest first. Called by svc_hidden.row_deliveries_as_authenticated() and
-- svc_hidden.retry_delivery_as_authenticated(), which have asked the table whether their caller sees the endpoint. Bodies are not among them: those of an endpoint that was another user's had rows of that user.
--
-- SECURITY DEFINER, because no role of a request may read deliveries. Only readers may execute it.

create or replace function svc_private.find_endpoint_deliveries(
  source text, endpoint text, only_id uuid, before bigint, most integer
)
returns table (
  sequence bigint, id uuid, webhook text, state text, attempts integer, created_at timestamptz, due_at timestamptz,
  ended_at timestamptz, last_status integer, last_error text
)
language sql
stable
security definer
set search_path = ''
as $$
  select d.sequence, d.id, d.webhook, d.state, d.attempts, d.created_at,
         case when d.state = 'pending' then d.due_at end, d.ended_at, d.last_status, left(d.last_error, 200)
    from ((select w.* from svc.webhook_deliveries w
            where w.source = find_endpoint_deliveries.source and w.endpoint = find_endpoint_deliveries.endpoint
              and w.source <> 'env' and w.sequence < coalesce(before, 9223372036854775807) and only_id is null
            order by w.sequence desc
            limit most)
          union all
          select w.* from svc.webhook_deliveries w
           where w.id = only_id and w.source = find_endpoint_deliveries.source
             and w.endpoint = find_endpoint_deliveries.endpoint) d
   order by d.sequence desc
$$;

comment on function svc_private.find_endpoint_deliveries(text, text, uuid, bigint, integer) is
  'Deliveries to an endpoint, newest first, without a look at its row. '
  'Definer: only svc_owner and svc_system read svc.webhook_deliveries, and readers execute it.';

grant execute on function svc_private.find_endpoint_deliveries(text, text, uuid, bigint, integer) to svc_reader_authenticated;
