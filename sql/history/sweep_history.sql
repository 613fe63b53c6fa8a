-- Drops partitions of svc_private.history_entries whose entries are all older than `age`, and makes the next ones; null keeps all.
-- Called by workers/tasks/sweep-storage.ts, once a day.
--
-- Dropping locks out writers of audited tables for a moment, and others wait behind it. So it gives up after a second: the
-- next day it is tried again. Partitions are made months ahead, and wait a day as well. They are made last:
-- making one locks the partition of months without one. Readers who wait for that lock hold the table that a drop would wait for.
--
-- The partition of months without one is dropped when its newest entry is old. That is looked at again under the lock: a change that
-- commits while the sweep waits for it may have an entry there.
--
-- Code of the application that runs as the system may call it, too: whatever age it passes, entries of the last day stay, and
-- with them the month that has begun.
--
-- SECURITY DEFINER, because svc_system owns no table.

create or replace function svc_private.sweep_history(age interval)
returns integer  -- the number of dropped partitions
language plpgsql
volatile
security definer
set search_path = ''
set timezone = 'UTC'
set datestyle = 'ISO'
set lock_timeout = '1s'
as $$
declare
  part record;
  dropped integer := 0;
begin
  for part in
    select c.oid as id, format('%s.%I', c.relnamespace::regnamespace, c.relname) as name,
           c.oid = 'svc_private.history_default'::regclass as is_default, c.relpartbound as bound, null::timestamptz as ends
      from pg_catalog.pg_inherits i join pg_catalog.pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'svc_private.history_entries'::regclass
     order by c.relname
  loop
    begin
      if part.is_default then
        select max(d.at) into part.ends from svc_private.history_default d;
      else  -- pg_get_expr() waits for a drop, and then is null
        part.ends := substring(pg_catalog.pg_get_expr(part.bound, part.id) from 'TO \(''([^'']+)''\)');
      end if;
      continue when coalesce(part.ends > now() - age or part.ends > now() - interval '1 day', true);
      lock table only svc_private.history_entries in access exclusive mode;
      continue when to_regclass(part.name)::oid is distinct from part.id; -- another sweep was faster
      continue when part.is_default and exists (select from svc_private.history_default d where d.at > part.ends);
      execute format('drop table %s', part.name);
      if to_regclass('svc_private.history_default') is null then
        perform svc_private.make_history_default();
      end if;
      dropped := dropped + 1;
    exception when lock_not_available then
      exit;
    end;
  end loop;
  begin
    perform svc_private.make_history_months();
  exception when lock_not_available then
    null;
  end;
  return dropped;
end
$$;

comment on function svc_private.sweep_history(interval) is
  'Drops partitions of the history that are older than this, and makes the next ones. '
  'lint:allow executed_text: only names of the catalog. '
  'Definer: svc_system owns no table.';
