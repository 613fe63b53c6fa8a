-- Stores messages of durable channels and puts them into the write-ahead log, in the caller's transaction: they are stored and
-- delivered together, or not at all. Called by src/realtime/channel-store.ts: with those of a handler, just before its COMMIT; and
-- as svc_system with those that members of a process have sent since its last call.
--
-- Numbers follow the order of commits: the row of a channel is locked until the transaction ends, so no lower number commits
-- after a higher one. A sequence would not do that. Two callers lock the rows of several channels in the same order, and lock no
-- others afterwards.
--
-- A backup that is restored, a standby that takes over, or a server that has lost its last commits in a crash, may know fewer numbers
-- than were given out. Then svc.server_incarnation() is another one, or the table was made anew: the first message after that gets a
-- number above the clock's microseconds, which is above all that were given out, and the row notes which ones it has left out. Who
-- comes back with one of these hears of a gap. A restart that lost nothing leaves out numbers too, which nobody notices.
--
-- An item with `clear` removes all messages that the channel had before. It uses up a number, so who comes back with an older one hears
-- of a gap. It does nothing where there are none.
--
-- Users who are gone, or whose row is being deleted, get nothing stored: their messages would fail those of all others. The
-- lock keeps the user until the commit.
--
-- Nor does it wait for rows that another transaction deletes, as that of an account: that one may send to this channel before its
-- COMMIT, and the two would wait for each other. If it rolls back, such a row stays until its time is over.
--
-- SECURITY DEFINER, because no role may write these tables or call pg_logical_emit_message(). Of the request side only the
-- login may execute it, never the request roles: see svc.emit_message(). A read-only transaction cannot write rows.

create or replace function svc.store_messages(messages jsonb)
returns integer[]
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  above bigint;
  channel svc.channels;
  cleared bigint;
  clears boolean;
  each record;
  gap int8range;
  most integer;
  over bigint;
  now_running text := concat_ws(' ', svc.server_incarnation(),
    (select d.oid from pg_database d where d.datname = current_database()), pg_relation_filenode('svc.channels'));
  sent timestamptz;
  users text[];
begin
  select max(octet_length(m ->> 'body')) into most from jsonb_array_elements(messages) m;
  if most > 65536 then
    raise exception 'a message of % bytes is larger than 65536', most
      using errcode = 'SV413', hint = 'Store it in a table, and send its id.';
  end if;
  users := array(
    select u.id from auth."user" u where u.id in (select m ->> 'user' from jsonb_array_elements(messages) m)
       for key share skip locked);

  for each in
    select g.topic, sha256(convert_to(g.topic, 'UTF8')) as digest, array_agg(g.m order by g.place) as items,
           bool_or(g.m ? 'clear') as clears, bool_and(g.m ? 'clear') as only_clears
      from (select o.m, o.place, o.m ->> 'topic' as topic, o.m ->> 'user' as sender
              from jsonb_array_elements(messages) with ordinality o (m, place)) g
     where g.sender is null or g.sender = any (users)
     group by g.topic order by g.topic collate "C"
  loop
    loop -- a sweep may remove the row between the two statements
      select * into channel from svc.channels c where c.digest = each.digest for update;
      exit when found or each.only_clears;
      insert into svc.channels (name, topic, digest, began, last, dropped, run)
      select each.items[1] ->> 'name', each.topic, each.digest, t.at, t.at, t.at, now_running
        from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as at) t
          on conflict (digest) do nothing;
    end loop;
    clears := each.clears and exists (
      select from svc.channel_messages m where m.channel_id = channel.id and m.id > channel.dropped);
    continue when each.only_clears and not clears;
    sent := clock_timestamp();
    if channel.run is distinct from now_running then
      above := greatest(channel.last, (extract(epoch from sent) * 1000000)::bigint);
      channel.skipped := channel.skipped + int8multirange(int8range(channel.last, above, '(]'));
      channel.last := above;
    end if;
    cleared := case when clears then channel.last + 1 end;
    channel.last := coalesce(cleared, channel.last);

    with added as (
      insert into svc.channel_messages as n (channel_id, id, message, body, user_id, visitor, sent_at, expires_at)
      select channel.id, channel.last + row_number() over (order by o.place), o.m ->> 'message', o.m ->> 'body',
             o.m ->> 'user', o.m ->> 'visitor', sent, sent + (o.m ->> 'keep')::bigint * interval '1 millisecond'
        from unnest(each.items) with ordinality o (m, place) where not o.m ? 'clear'
      returning n as stored, n.id
    ), told as (
      select a.id, pg_catalog.pg_logical_emit_message(true, 'svc',
               concat('{"channel":{"topic":', to_json(each.topic), ',', svc_private.message_json(a.stored), '}}')) as place
        from (select * from added order by id) a
    )
    select coalesce(max(t.id) filter (where t.place is not null), channel.last) into channel.last from told t;

    -- There is no room for messages up to this number.
    over := channel.last - (each.items[1] ->> 'max')::integer;
    for gap in select g from unnest(channel.skipped) g order by g desc loop
      exit when over >= upper(gap);
      over := over - (upper(gap) - lower(gap));
    end loop;
    over := greatest(over, cleared);
    update svc.channels c
       set last = channel.last, dropped = greatest(c.dropped, over), run = now_running,
           skipped = channel.skipped * int8multirange(int8range(greatest(c.dropped, over), null, '(]'))
     where c.id = channel.id;
    delete from svc.channel_messages m using (
      select o.id from svc.channel_messages o
       where o.channel_id = channel.id and o.id > channel.dropped and o.id <= over
         for update skip locked) o
     where m.channel_id = channel.id and m.id = o.id;
  end loop;

  return array(
    select (o.place - 1)::integer from jsonb_array_elements(messages) with ordinality o (m, place)
     where o.m ->> 'user' is not null and o.m ->> 'user' <> all (users) order by 1);
end
$$;

grant execute on function svc.store_messages(jsonb) to svc_request;

comment on function svc.store_messages(jsonb) is
  'Stores messages of durable channels and sends them when the transaction commits, or clears channels. Returns the places, '
  'from 0, of those whose user is gone: they are not stored. At most 65536 bytes each; refused in read-only transactions. '
  'Definer: no role may write the tables or the log; it writes what it is given.';
