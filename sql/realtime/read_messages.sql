-- Stored messages of a channel for one who may be in it: those after the last one that the client has, or the newest. Called by
-- src/realtime/channel-store.ts in the transaction of `join`, after its answer: both see one snapshot, so who was removed reads
-- nothing that committed after the removal.
--
-- One page of at most 200 messages and about `bytes`; the client asks for the next one. `gap`: messages after `after` were
-- removed, the channel began anew, or `after` was given out by a state of the database that has been replaced. Then the page begins
-- as if there were no `after`.
--
-- SECURITY DEFINER, because no role of a request may read the tables: only `join` knows who may. Of the request side only the
-- login may execute it, never the request roles, and only the service calls it.

create or replace function svc.read_messages(topic text, after bigint, newest integer, bytes integer)
returns text
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  channel svc.channels;
  gap boolean := false;
  more boolean;
  page record;
  start bigint := read_messages.after;
begin
  select * into channel from svc.channels c where c.digest = sha256(convert_to(read_messages.topic, 'UTF8'));
  if not found then
    return concat('{"after":', coalesce(start::text, 'null'), ',"until":0,"last":0,"gap":',
                  coalesce(start > 0, false)::text, ',"more":false,"messages":[]}');
  end if;
  if start is not null then
    -- 0: the client came before the first message.
    gap := case when start = 0 then channel.dropped > channel.began
                else start < channel.dropped or start > channel.last or channel.skipped @> start end
      or exists (
        select from svc.channel_messages m where m.channel_id = channel.id and m.id > start and m.expires_at <= now());
  end if;
  if start is null or gap then
    start := greatest(channel.dropped, ( -- a row that is locked may be left though it was dropped
      select m.id from svc.channel_messages m where m.channel_id = channel.id order by m.id desc offset newest limit 1));
  end if;

  select string_agg(concat('{', svc_private.message_json(s.stored), '}'), ',' order by s.id) as text, max(s.id) as until
    into page
    from (
      select l.*, sum(l.size) over (order by l.id) - l.size as before
        from (
          select m as stored, m.id, octet_length(m.body) as size from svc.channel_messages m
           where m.channel_id = channel.id and m.id > start and m.expires_at > now()
           order by m.id limit 200
        ) l
    ) s
   where s.before < bytes;
  more := ( -- in an order, or all messages may be read
    select m.id from svc.channel_messages m
     where m.channel_id = channel.id and m.id > page.until and m.expires_at > now() order by m.id limit 1) is not null;
  return concat('{"after":', coalesce(read_messages.after::text, 'null'),
                ',"until":', case when more then page.until else channel.last end, ',"last":', channel.last,
                ',"gap":', gap::text, ',"more":', more::text, ',"messages":[', page.text, ']}');
end
$$;

revoke execute on function svc.read_messages(text, bigint, integer, integer) from svc_system;
grant execute on function svc.read_messages(text, bigint, integer, integer) to svc_request;

comment on function svc.read_messages(text, bigint, integer, integer) is
  'Stored messages of a channel as JSON: after, until, last, gap, more, messages. After a message, or the newest ones. '
  'Definer: no role of a request may read the tables; the service calls it for members that `join` has let in.';
