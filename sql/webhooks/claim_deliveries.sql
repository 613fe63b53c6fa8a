-- Gives a worker deliveries to send. Called by src/webhooks/sender.ts.
--
-- Deliveries of different rows are sent to an endpoint at the same time: one at first, one more after each answer, at most ten, and one
-- again after a failure (svc_private.end_delivery), so that a receiver that hangs keeps few requests of a worker. Endpoints share what a
-- call may return. Those of one row keep their order: of a row whose delivery is being sent, or waits for its next attempt, nothing else
-- is sent.
--
-- The lock on the row of an endpoint lets one call at a time choose for it. A delivery that is being sent is among `sending`, and its
-- `due_at` is when its lease ends: that of a killed worker is due again then. Each statement below sees what was committed before it
-- began, so a call that has the lock sees how the deliveries before ended.
--
-- Endpoints take turns: the one that was served longest ago is first, so that many deliveries of one delay no other. They are locked
-- in one order, because two workers would otherwise wait for each other.
--
-- A delivery that is due, but waits for another one of its row, gets the time of that one. So a row that changes often, while
-- its endpoint fails, has one delivery that is due, and not thousands which each claim would read. svc_private.end_delivery() makes the
-- next one due. All that wait are changed by one statement, and after ten rows of which nothing can be sent the call looks no further: an
-- endpoint that fails may have thousands of such rows, each of which would take a statement.
--
-- A receiver may ask to wait for a day (svc_private.end_delivery()). A wait that is longer is of a time before the clock was set back, and
-- has ended.
--
-- An endpoint that has another owner now gets nothing of the owner before: such deliveries are dead, and so are those to an endpoint
-- that was deleted. So are those of a webhook that a migration ends; the state is asked again when the delivery is locked.
--
-- A call changes about 1,000 deliveries that it does not return, and at least 50 of each endpoint. Later calls do the rest: an endpoint
-- may have so many that one call would take longer than a statement may, and then no call would return anything.
--
-- It ends when it has 16 MiB, the longest body (svc_private.bounded_body): a worker holds what it gets in memory.
--
-- Endpoints with pending deliveries are found by jumps along the index, not by reading all of their deliveries. The statistics of a
-- queue are outdated: where they say that nothing is pending, PostgreSQL would read and sort all that is. So it may neither sort nor
-- read the table, and one delivery is found by its key alone (svc_private.end_delivery()). The first one of a row is the first from its
-- key on: with `row_key = …` PostgreSQL may read all that the endpoint ever got, in their order.
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
  longest_wait constant interval := interval '1 day 1 minute';
  turn record;
  receiver record;
  lease_row svc_private.webhook_leases;
  moment timestamptz;  -- a variable, by which an index is searched, as it is not by clock_timestamp()
  busy uuid[];  -- what is being sent to the endpoint
  held timestamptz;  -- until when the row's delivery is being sent
  passed text[];  -- rows of which nothing is sent now
  waiting text;
  first_id uuid;
  first_due timestamptz;
  first_webhook text;
  first_owner text;
  changeable integer := 1000;
  changed integer;
  size integer := 0;  -- in bytes, of what it returns
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
       where l.endpoint is null
          or (l.busy_until <= now() or l.busy_until > now() + longest_wait)
             and l.places > (select count(*) from svc.webhook_deliveries d
                              where d.id = any (l.sending) and d.ended_at is null and d.due_at > now())
       order by l.busy_until nulls first
       limit most
    )
    select f.source, f.endpoint, greatest(most / count(*) over (), 1) as share from free f order by f.source, f.endpoint
  loop
    exit when size > 16777216;
    insert into svc_private.webhook_leases as l (source, endpoint, busy_until)
    values (turn.source, turn.endpoint, clock_timestamp())
    on conflict on constraint webhook_leases_pkey do update
      set busy_until = excluded.busy_until
      where l.busy_until <= clock_timestamp() or l.busy_until > clock_timestamp() + longest_wait
    returning l.* into lease_row;
    continue when not found;  -- its receiver has asked to wait
    moment := clock_timestamp();
    changeable := greatest(changeable, 50);
    busy := array(select d.id from svc.webhook_deliveries d
                   where d.id = any (lease_row.sending) and d.ended_at is null and d.due_at > moment);

    url := null;
    secret := null;
    if turn.source <> 'env' then
      select * into receiver from svc_private.find_endpoint(turn.source, turn.endpoint);
      if not found then
        update svc.webhook_deliveries d
           set state = 'dead', ended_at = now(), last_error = 'The endpoint was deleted.'
         where d.id = any (array(
           select l.id from svc.webhook_deliveries l
            where l.source = turn.source and l.endpoint = turn.endpoint and l.state = 'pending' and l.id <> all (busy)
            limit changeable for update skip locked));
        get diagnostics changed = row_count;
        changeable := changeable - changed;
        continue;
      end if;
      if receiver.enabled is not true then  -- it waits before the next look
        update svc_private.webhook_leases l set busy_until = moment + lease
         where l.source = turn.source and l.endpoint = turn.endpoint;
        continue;
      end if;
      url := receiver.url;
      secret := receiver.secret;
    end if;

    passed := '{}';
    for place in 1 .. least(turn.share, lease_row.places - cardinality(busy)) loop
      loop
        select d.row_key into waiting from svc.webhook_deliveries d
         where d.source = turn.source and d.endpoint = turn.endpoint and d.state = 'pending' and d.due_at <= moment
           and d.row_key <> all (passed)
         order by d.due_at, d.sequence
         limit 1;
        select f.id, f.due_at, f.webhook, f.owner into first_id, first_due, first_webhook, first_owner
          from (select d.* from svc.webhook_deliveries d
                 where d.source = turn.source and d.endpoint = turn.endpoint and d.state = 'pending' and d.row_key >= waiting
                 order by d.row_key, d.sequence
                 limit 1) f
         where f.row_key = waiting;
        -- It may be a later one of the row, when an operator retries a dead one.
        select d.due_at into held from svc.webhook_deliveries d where d.id = any (busy) and d.row_key = waiting;
        if held is null and first_owner is not null
           and not svc_private.is_owned_by(first_webhook, turn.source, turn.endpoint, first_owner) then
          update svc.webhook_deliveries d
             set state = 'dead', ended_at = now(), last_error = 'The endpoint belongs to somebody else now.'
           where d.id = any (array(
             select l.id from svc.webhook_deliveries l
              where l.source = turn.source and l.endpoint = turn.endpoint and l.state = 'pending'
                and l.webhook = first_webhook and l.owner = first_owner and l.id <> all (busy)
              limit changeable for update skip locked));
          get diagnostics changed = row_count;
          changeable := changeable - changed;
          if changed = 0 or changeable = 0 then
            first_id := null;  -- the next call looks again
            exit;
          end if;
        else
          exit when coalesce(coalesce(held, first_due) <= moment, true);
          if cardinality(passed) = 10 then
            first_id := null;  -- the next call looks further
            exit;
          end if;
          with sent as materialized (
            select d.row_key, d.due_at from svc.webhook_deliveries d where d.id = any (busy)
          ), due as materialized (
            select d.id, d.row_key from svc.webhook_deliveries d
             where d.source = turn.source and d.endpoint = turn.endpoint and d.state = 'pending' and d.due_at <= moment
             order by d.due_at, d.sequence
             limit changeable for update skip locked
          ), kept as materialized (
            select due.id, coalesce(sent.due_at, before.due_at) as due_at
              from due
              left join sent on sent.row_key = due.row_key
             cross join lateral (
               select d.row_key, d.due_at from svc.webhook_deliveries d
                where d.source = turn.source and d.endpoint = turn.endpoint and d.state = 'pending' and d.row_key >= due.row_key
                order by d.row_key, d.sequence
                limit 1) before
             where before.row_key = due.row_key
          )
          update svc.webhook_deliveries d set due_at = kept.due_at from kept where d.id = kept.id and kept.due_at > moment;
          get diagnostics changed = row_count;
          changeable := changeable - changed;
          passed := passed || waiting;
        end if;
      end loop;
      update svc.webhook_deliveries d
         set attempts = d.attempts + 1, due_at = clock_timestamp() + lease
       where d.id = first_id and d.ended_at is null and d.due_at <= moment
      returning d.id, d.webhook, d.source, d.endpoint, d.body, d.attempts
        into id, webhook, source, endpoint, body, attempt;
      exit when id is null;
      busy := busy || id;
      return next;
      size := size + octet_length(body);
      exit when size > 16777216;
    end loop;
    update svc_private.webhook_leases l set sending = busy where l.source = turn.source and l.endpoint = turn.endpoint;
  end loop;
end
$$;

comment on function svc_private.claim_deliveries(integer, interval) is
  'Gives a worker the next deliveries of endpoints, each of another row, with the URL and secret of those that are rows. '
  'Definer: svc_system only reads svc.webhook_deliveries.';
