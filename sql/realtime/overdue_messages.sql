-- For how many days the oldest message of a durable channel should have been removed, for `svc doctor`. null when none is overdue:
-- the daily sweep (svc_private.sweep_messages) has two days.

create or replace function svc_private.overdue_messages()
returns integer
language sql
stable
set search_path = ''
as $$
  select nullif(greatest(extract(epoch from now() - min(m.expires_at))::integer / 86400, 1), 1) from svc.channel_messages m
$$;

comment on function svc_private.overdue_messages() is
  'Days for which the oldest message of a durable channel should have been removed; null when none is overdue.';
