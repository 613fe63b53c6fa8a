-- Gives the slots of deleted runs to the next ones. Trigger of svc.workflow_runs: the foreign key deletes the runs of a
-- deleted user, also running ones, and no other function would wake the runs that wait for the slots.
--
-- Once per statement, in the order of the advisory locks that free_slot takes and keeps. In the order of the rows, the deletions
-- of two users with runs of the same two workflows could deadlock.
--
-- SECURITY DEFINER, because the login that deletes the user may neither change runs nor add jobs.
create or replace function svc_private.free_slot_of_deleted()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  run svc.workflow_runs;
begin
  for run in
    select d.* from deleted d
     where d.max_running is not null and d.status in ('pending', 'running')
     order by hashtext(d.name), d.created_at, d.id
  loop
    perform svc_private.free_slot(run);
  end loop;
  return null;
end
$$;

revoke execute on function svc_private.free_slot_of_deleted() from svc_system;

comment on function svc_private.free_slot_of_deleted() is 'Trigger of svc.workflow_runs: wakes the runs that wait for deleted ones. '
  'Definer: a trigger; a role that deletes a run may not write to the queue.';

create or replace trigger free_slot
  after delete on svc.workflow_runs
  referencing old table as deleted
  for each statement
  execute function svc_private.free_slot_of_deleted();

comment on trigger free_slot on svc.workflow_runs is
  'A run that is deleted with its user frees its place for the next one.';
