-- Gives a worker deliveries to send, at most one for each endpoint. Called by src/webhooks/sender.ts.
--
-- The lease of an endpoint lets one worker at a time send to it. The worker ends it (svc_private.end_delivery); that of a
-- killed worker ends by itself, and its delivery is due again then. Each statement below sees what was committed before it
-- began, so a worker with a new lease sees how the delivery before ended, and the deliveries of one row keep their order.
--
-- Endpoints take turns: the one that was served longest ago is first, so that many deliveries of one delay no other. Leases
-- are taken in one order, because two workers would otherwise wait for each other.
--
-- A delivery that is due, but waits for an earlier one of its row, gets the time of that one. So a row that changes often, while
-- its endpoint fails, has one delivery that is due, and not thousands which each claim would read.
--
-- An endpoint that has another owner now gets nothing of the owner before: such deliveries are dead, and so are those to an endpoint
-- that was deleted. So are those of a webhook that a migration ends; the state is asked again when the delivery is locked.
--
-- A call changes at most 1,000 deliveries that it does not return. Later calls do the rest: an endpoint may have so many that one
-- call would take longer than a statement may, and then no call would return anything.
--
-- Endpoints with pending deliveries are found by jumps along the index, not by reading all of their deliveries. The statistics of a
-- queue are outdated: where they say that nothing is pending, PostgreSQL would read and sort all that is. So it may neither sort nor
-- read the table, and one delivery is found by its key alone (svc_private.end_delivery()).
--
-- SECURITY DEFINER, because svc_system only reads the deliveries.

create or replace function svc_private.claim_deliveries(most integer, lease interval)
returns table (
  id uuid, webhook text, source text, endpoint text, body text, attempt integer, url text, secret text
)
language plpgsql
volatile
security definer
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  turn record;
  receiver record;
  waiting text;
  first_id uuid;
  first_due timestamptz;
  first_webhook text;
  first_owner text;
  changeable integer := 1000;
  changed integer;
begin
  for turn in
    with recursive endpoints as (
      (select d.source, d.endpoint from svc.webhook_deliveries d
        where d.state = 'pending' order by d.source, d.endpoint limit 1)
      union all
      select n.source, n.endpoint from endpoints e
       cross join lateral (
         select d.source, d.endpoint from svc.webhook_deliveries d
          where d.state = 'pending' and (d.source, d.endpoint) > (e.source, e.endpoint)
          order by d.source, d.endpoint limit 1) n
    ), free as (
      select e.source, e.endpoint
        from endpoints e
        left join svc_private.webhook_leases l on l.source = e.source and l.endpoint = e.endpoint
       -- A LIMIT, because PostgreSQL joins EXISTS with all deliveries that are pending.
       cross join lateral (
         select from svc.webhook_deliveries d
          where d.source = e.source and d.endpoint = e.endpoint and d.state = 'pending' and d.due_at <= now()
          order by d.due_at limit 1) due
       where coalesce(l.busy_until <= now(), true)
       order by l.busy_until nulls first
       limit most
    )
    select f.source, f.endpoint from free f order by f.source, f.endpoint
  loop
    insert into svc_private.webhook_leases as l (source, endpoint, busy_until)
    values (turn.source, turn.endpoint, clock_timestamp() + lease)
    on conflict on constraint webhook_leases_pkey do update
      set busy_until = excluded.busy_until, delivery = null
      where l.busy_until <= clock_timestamp();
    continue when not found;  -- another worker was faster

    url := null;
    secret := null;
    if turn.source <> 'env' then
      select * into receiver from svc_private.find_endpoint(turn.source, turn.endpoint);
      if not found then
        update svc.webhook_deliveries d
           set state = 'dead', ended_at = now(), last_error = 'The endpoint was deleted.'
         where d.id = any (array(
           select l.id from svc.webhook_deliveries l
            where l.source = turn.source and l.endpoint = turn.endpoint and l.state = 'pending'
            limit changeable for update skip locked));
        get diagnostics changed = row_count;
        changeable := changeable - changed;
        update svc_private.webhook_leases l set busy_until = clock_timestamp()
         where l.source = turn.source and l.endpoint = turn.endpoint;
        continue;
      end if;
      continue when receiver.enabled is not true;  -- the lease lets it wait before the next look
      url := receiver.url;
      secret := receiver.secret;
    end if;

    loop
      select d.row_key into waiting from svc.webhook_deliveries d
       where d.source = turn.source and d.endpoint = turn.endpoint and d.state = 'pending' and d.due_at <= clock_timestamp()
       order by d.due_at, d.sequence
       limit 1;
      select d.id, d.due_at, d.webhook, d.owner into first_id, first_due, first_webhook, first_owner from svc.webhook_deliveries d
       where d.source = turn.source and d.endpoint = turn.endpoint and d.state = 'pending' and d.row_key = waiting
       order by d.sequence
       limit 1;
      if first_owner is not null and not svc_private.is_owned_by(first_webhook, turn.source, turn.endpoint, first_owner) then
        update svc.webhook_deliveries d
           set state = 'dead', ended_at = now(), last_error = 'The endpoint belongs to somebody else now.'
         where d.id = any (array(
           select l.id from svc.webhook_deliveries l
            where l.source = turn.source and l.endpoint = turn.endpoint and l.state = 'pending'
              and l.webhook = first_webhook and l.owner = first_owner
            limit changeable for update skip locked));
      else
        exit when coalesce(first_due <= clock_timestamp(), true);
        update svc.webhook_deliveries d
           set due_at = first_due
         where d.id = any (array(
           select l.id from svc.webhook_deliveries l
            where l.source = turn.source and l.endpoint = turn.endpoint and l.state = 'pending' and l.row_key = waiting
              and l.due_at < first_due
            limit changeable));
      end if;
      get diagnostics changed = row_count;
      changeable := changeable - changed;
      if changed = 0 or changeable = 0 then
        first_id := null;  -- the next call looks again
        exit;
      end if;
    end loop;
    update svc.webhook_deliveries d
       set attempts = d.attempts + 1, due_at = clock_timestamp() + lease
     where d.id = first_id and d.ended_at is null and d.due_at <= clock_timestamp()
    returning d.id, d.webhook, d.source, d.endpoint, d.body, d.attempts
      into id, webhook, source, endpoint, body, attempt;
    update svc_private.webhook_leases l
       set delivery = claim_deliveries.id,
           busy_until = case when claim_deliveries.id is null then clock_timestamp() else l.busy_until end
     where l.source = turn.source and l.endpoint = turn.endpoint;
    if id is not null then
      return next;
    end if;
  end loop;
end
$$;

comment on function svc_private.claim_deliveries(integer, interval) is
  'Gives a worker the next delivery of each free endpoint, with the URL and secret of those that are rows. '
  'Definer: svc_system only reads svc.webhook_deliveries.';
