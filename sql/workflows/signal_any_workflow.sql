-- Sends an event to a run of any user. It ends the oldest wait for this event, or is stored for the next one. Called by
-- svc.signal_workflow, by svc_private.act_signal_workflow, and by ctx.workflows in code that runs as the system.
--
-- Answers accepted, ended (the run is over), full or unknown. A run is full when it holds 1,000 events that no wait has
-- taken, or 16 MiB of events, each counted as at least 1 KiB. Without a limit a user could send any number of events, and
-- svc.get_workflow() reads all of them.
--
-- A wait whose time is up ends before the event, however late its job runs, because settle_waits() comes first. Both hold
-- the row lock, so an event and a timeout cannot both win.
--
-- The event refers to the user, who is locked before the run: so does the deletion of an account, and otherwise the two could wait
-- for each other.
create or replace function svc_private.signal_any_workflow(run_id uuid, event text, content json)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  most constant bigint := 16 * 1024 * 1024;
  run svc.workflow_runs;
  ended text;
begin
  perform from auth."user" u
    where u.id = (select r.user_id from svc.workflow_runs r where r.id = signal_any_workflow.run_id) for key share;
  select * into run from svc.workflow_runs r where r.id = signal_any_workflow.run_id for no key update;
  if not found then
    return 'unknown';
  elsif run.status not in ('pending', 'running') then
    return 'ended';
  elsif (select count(*) from svc.workflow_events e where e.run_id = run.id and e.taken_by is null) >= 1000 then
    return 'full';
  elsif (
    select coalesce(sum(greatest(octet_length(e.payload::text), 1024)), 0) from svc.workflow_events e where e.run_id = run.id
  ) + octet_length(content::text) > most then
    return 'full';
  end if;
  perform svc_private.settle_waits(run.id);
  update svc.workflow_steps s
     set is_done = true, result = content, finished_at = clock_timestamp()
   where s.seq = (
     select w.seq from svc.workflow_steps w
      where w.run_id = run.id and w.kind = 'wait' and w.name = event and not w.is_done order by w.seq limit 1)
  returning s.position into ended;
  insert into svc.workflow_events (run_id, name, payload, user_id, taken_by)
    values (run.id, event, content, run.user_id, ended);
  -- A worker that holds the run sees the event when it releases the run; a run that waits for a retry sees it then.
  if ended is not null and (run.wait_marker like 'wait:%' or run.wait_marker like 'sleep#%') then
    update svc.workflow_runs r set wait_marker = null, wake_at = clock_timestamp(), updated_at = clock_timestamp()
     where r.id = run.id;
    perform svc_private.wake_run(run.id, clock_timestamp());
  end if;
  perform svc_private.tell_run(run.id, run.user_id);
  return 'accepted';
end
$$;

comment on function svc_private.signal_any_workflow(uuid, text, json) is
  'Sends an event to a run: accepted, ended, full or unknown. '
  'Definer: svc_system has no rights on the queue''s tables.';
