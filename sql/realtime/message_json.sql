-- A stored message as clients get it, without the braces around it: live by svc.store_messages(), and later by svc.read_messages().
-- The body is JSON text already.

create or replace function svc_private.message_json(stored svc.channel_messages)
returns text
language sql
stable
set search_path = ''
as $$
  select concat(
    '"id":', stored.id,
    ',"at":', (extract(epoch from stored.sent_at) * 1000)::bigint,
    ',"message":', to_json(stored.message),
    ',"body":', stored.body,
    ',"from":', case when coalesce(stored.user_id, stored.visitor) is null then 'null'
                     else json_build_object('id', coalesce(stored.user_id, stored.visitor), 'userId', stored.user_id)::text end)
$$;

comment on function svc_private.message_json(svc.channel_messages) is 'The members of a stored message, as JSON without braces.';
