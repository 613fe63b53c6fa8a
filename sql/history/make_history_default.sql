-- Makes the partition of svc_private.history_entries for months without one again, after svc_private.sweep_history() has dropped it.

create or replace function svc_private.make_history_default()
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  create table svc_private.history_default partition of svc_private.history_entries default;
  alter table svc_private.history_default owner to svc_owner;  -- as in svc_private.make_history_months()
  alter table svc_private.history_default enable row level security;
  revoke all on svc_private.history_default from svc_system;
  comment on table svc_private.history_default is 'Entries of months without a partition.';
  create trigger keep_all_entries before truncate on svc_private.history_default
    for each statement execute function svc_private.refuse_change_of_entry();
end
$$;

revoke execute on function svc_private.make_history_default() from svc_system;

comment on function svc_private.make_history_default() is
  'Makes the partition of the history for months without one.';
