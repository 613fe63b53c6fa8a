-- Removes messages of durable channels whose time is over, at most `most` of them, and channels without messages. Called by
-- workers/tasks/sweep-storage.ts once a day, until it removes none. More than a channel may keep is removed as the next one comes
-- (store_messages.sql), and what is too old is not read any more (read_messages.sql).
--
-- It waits for nobody: channels in which somebody sends now are left for the next time. A channel to which a message came
-- meanwhile has another `last`, and stays.
--
-- SECURITY DEFINER, because svc_system may not write svc.channels.

create or replace function svc_private.sweep_messages(most integer)
returns bigint
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  removed bigint;
begin
  with old as (
    select m.channel_id, m.id
      from svc.channel_messages m join svc.channels c on c.id = m.channel_id
     where m.expires_at <= now()
     order by m.expires_at limit most for update skip locked
  ), gone as (
    delete from svc.channel_messages m using old o where m.channel_id = o.channel_id and m.id = o.id
    returning m.channel_id, m.id
  ), noted as (
    update svc.channels c set dropped = greatest(c.dropped, g.id)
      from (select channel_id, max(id) as id from gone group by channel_id) g where c.id = g.channel_id
  )
  select count(*) into removed from gone;

  if removed < most then -- the last batch; a subquery for each channel, because a join would read all messages
    with empty as (
      select c.id, c.last from svc.channels c
       where (select m.id from svc.channel_messages m where m.channel_id = c.id limit 1) is null limit most
    ), locked as (
      select c.id from svc.channels c join empty e on e.id = c.id and e.last = c.last for update of c skip locked
    )
    delete from svc.channels c using locked l where c.id = l.id;
  end if;
  return removed;
end
$$;

comment on function svc_private.sweep_messages(integer) is
  'Removes messages of channels that are older than their channels keep them, up to a limit; returns their number. '
  'Definer: svc_system may not write svc.channels.';
