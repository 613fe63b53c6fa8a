-- For how many days the oldest month of the history should have been dropped, for `svc doctor`. null when none is overdue: the
-- daily sweep (svc_private.sweep_history) has two days, because it gives up while somebody holds a lock. Entries without a
-- month of their own are left out.

create or replace function svc_private.overdue_history(days integer)
returns integer
language sql
stable
set search_path = ''
set timezone = 'UTC'  -- as svc_private.sweep_history(), which reads the same text
set datestyle = 'ISO'
as $$
  select nullif(greatest(max(extract(epoch from now() - e.ends)::integer / 86400 - days), 1), 1)
    from pg_catalog.pg_inherits i
    join pg_catalog.pg_class c on c.oid = i.inhrelid
   cross join lateral (
     select substring(pg_catalog.pg_get_expr(c.relpartbound, c.oid) from 'TO \(''([^'']+)''\)')::timestamptz as ends) e
   where i.inhparent = 'svc_private.history_entries'::regclass
$$;

comment on function svc_private.overdue_history(integer) is
  'Days for which the oldest month of the history should have been dropped; null when none is overdue.';
