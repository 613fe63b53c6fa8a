-- Removes deliveries that were sent, or dead, for longer than this, at most `most` of them; and leases that no worker needs.
-- Called by workers/tasks/sweep-storage.ts once a day, until it removes none.
--
-- Rows that are locked by another session are left for the next time: a dead delivery may be about to be sent again, and a worker
-- may be about to take a lease.

create or replace function svc_private.sweep_deliveries(age interval, most integer default 10000)
returns bigint
language sql
volatile
security definer
set search_path = ''
as $$
  with leases as (
    delete from svc_private.webhook_leases l
     where l.ctid = any (array(
       select e.ctid from svc_private.webhook_leases e
        where e.busy_until < now() - interval '1 day' for update skip locked))
  ), removed as (
    delete from svc.webhook_deliveries d
     where d.id = any (array(
       select e.id from svc.webhook_deliveries e
        where e.state in ('sent', 'dead') and e.ended_at < now() - age
        limit most for update skip locked))
    returning 1
  )
  select count(*) from removed
$$;

comment on function svc_private.sweep_deliveries(interval, integer) is
  'Removes deliveries that ended longer ago than this, and returns how many. '
  'Definer: svc_system only reads svc.webhook_deliveries.';
