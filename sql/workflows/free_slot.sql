-- Wakes a run that waits for its turn, if a workflow limits how many of its runs may run at a time. Called when a run
-- stops running or is deleted, and by claim_run when slots are left. The advisory lock serializes this with claim_run, so
-- that no run stays asleep beside a free slot.
--
-- Users take turns, in the order of their ids: the slot passes from the user of the run that leaves it to the next user
-- who waits, and then to that user's oldest run. So a user with a thousand runs delays others by one run in each slot.
-- Runs of nobody and of the system take turns as those of one user.
--
-- Another transaction may hold the waiting run's lock: a signal, a cancellation, the deletion of its user. Waiting for
-- that lock here would deadlock with claim_run, which locks the run first and then takes the advisory lock. Skipping
-- the run would lose the wake-up, because a signal does not look for free slots. So a locked run gets its job and keeps
-- its marker: the worker that runs the job waits for the lock, and claim_run decides. A run that is cancelled or
-- deleted meanwhile calls this again.
create or replace function svc_private.free_slot(run svc.workflow_runs)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  next uuid;
begin
  if run.max_running is null then
    return;
  end if;
  perform pg_advisory_xact_lock(726502188, hashtext(run.name));
  update svc.workflow_runs r set wait_marker = null
   where r.id = (
     select w.id from svc.workflow_runs w
      -- The index holds pending runs only. A condition on the status could make PostgreSQL take the index of active runs and
      -- sort them all.
      where w.name = run.name and w.wait_marker = 'slot' and coalesce(w.user_id, '') > coalesce(run.user_id, '')
      order by coalesce(w.user_id, ''), w.created_at, w.id limit 1 for no key update skip locked)
  returning r.id into next;
  if next is null then
    -- From the beginning: that was the last user, or nobody else waits.
    update svc.workflow_runs r set wait_marker = null
     where r.id = (
       select w.id from svc.workflow_runs w
        where w.name = run.name and w.wait_marker = 'slot'
        order by coalesce(w.user_id, ''), w.created_at, w.id limit 1 for no key update skip locked)
    returning r.id into next;
  end if;
  if next is null then
    -- Others have locked every waiting run. One of them is enough: claim_run or this function runs when its lock is released.
    select w.id into next from svc.workflow_runs w
     where w.name = run.name and w.wait_marker = 'slot'
     order by coalesce(w.user_id, ''), w.created_at, w.id limit 1;
  end if;
  if next is not null then
    perform svc_private.wake_run(next, clock_timestamp());
  end if;
end
$$;

revoke execute on function svc_private.free_slot(svc.workflow_runs) from svc_system;

comment on function svc_private.free_slot(svc.workflow_runs) is
  'Wakes the next run that waits until another run of its name stops.';
