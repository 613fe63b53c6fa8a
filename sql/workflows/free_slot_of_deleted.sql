-- Gives the slot of a deleted run to the next one. Trigger of svc.workflow_runs: the foreign key deletes the runs of a
-- deleted user, also running ones, and no other function would wake the runs that wait for the slot.
--
-- SECURITY DEFINER, because the login that deletes the user may neither change runs nor add jobs.
create or replace function svc_private.free_slot_of_deleted()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform svc_private.free_slot(old);
  return null;
end
$$;

revoke execute on function svc_private.free_slot_of_deleted() from svc_system;

comment on function svc_private.free_slot_of_deleted() is 'Trigger of svc.workflow_runs: wakes the run that waits for a deleted one. '
  'Definer: a trigger; a role that deletes a run may not write to the queue.';

create or replace trigger free_slot
  after delete on svc.workflow_runs
  for each row when (old.max_running is not null and old.status in ('pending', 'running'))
  execute function svc_private.free_slot_of_deleted();

comment on trigger free_slot on svc.workflow_runs is
  'A run that is deleted with its user frees its place for the next one.';
