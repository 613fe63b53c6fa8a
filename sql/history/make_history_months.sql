-- Makes the partitions of svc_private.history_entries for this month and the next two. Called by svc_private.install_history() and
-- svc_private.sweep_history(). A month whose entries are in the default partition already gets none: they stay there.
--
-- A table is made and then attached: CREATE TABLE … PARTITION OF would lock out all writers of audited tables. svc_owner owns it,
-- also when an administrator calls this by hand: `svc migrate` could not change it otherwise.

create or replace function svc_private.make_history_months()
returns void
language plpgsql
volatile
set search_path = ''
set timezone = 'UTC'
as $$
declare
  month date;
  part text;
begin
  for month in
    select date_trunc('month', now())::date + n * interval '1 month' from generate_series(0, 2) as n
  loop
    part := to_char(month, '"history_"YYYY_MM');
    continue when to_regclass('svc_private.' || part) is not null or exists (
      select from svc_private.history_default d where d.at >= month and d.at < month + interval '1 month');
    execute format('create table svc_private.%I (like svc_private.history_entries including defaults including constraints)', part);
    execute format('alter table svc_private.%I owner to svc_owner', part);
    execute format('alter table svc_private.%I enable row level security', part);
    execute format('revoke all on svc_private.%I from svc_system', part);
    execute format('alter table svc_private.history_entries attach partition svc_private.%I for values from (%L) to (%L)',
      part, month::timestamptz, (month + interval '1 month')::timestamptz);
    execute format('create trigger keep_all_entries before truncate on svc_private.%I
      for each statement execute function svc_private.refuse_change_of_entry()', part);
  end loop;
end
$$;

revoke execute on function svc_private.make_history_months() from svc_system;

comment on function svc_private.make_history_months() is
  'Makes the partitions of svc_private.history_entries for this month and the next two. '
  'lint:allow executed_text: only names and dates that it makes itself.';
