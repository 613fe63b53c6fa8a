-- Keeps entries as they were written: not even the owner changes or removes one. A month goes as a whole, by DROP TABLE,
-- which fires no trigger. Entries are inserted by triggers alone; the depth counts those that run.

create or replace function svc_private.refuse_change_of_entry()
returns trigger
language plpgsql
volatile
set search_path = ''
as $$
begin
  raise exception '% of an entry of the history is refused', lower(tg_op collate "C")
    using errcode = '42501', hint = 'Entries are written by the triggers of audited tables, and removed by limits.historyDays.';
end
$$;

comment on function svc_private.refuse_change_of_entry() is 'Trigger: refuses changes of svc_private.history_entries.';

create or replace trigger keep_entries before update or delete on svc_private.history_entries
  for each row execute function svc_private.refuse_change_of_entry();
create or replace trigger keep_all_entries before truncate on svc_private.history_entries
  for each statement execute function svc_private.refuse_change_of_entry();
create or replace trigger forge_no_entries before insert on svc_private.history_entries
  for each row when (pg_trigger_depth() = 0) execute function svc_private.refuse_change_of_entry();

-- A trigger of a statement on the whole table does not fire for a partition.
create or replace trigger keep_all_entries before truncate on svc_private.history_default
  for each statement execute function svc_private.refuse_change_of_entry();
