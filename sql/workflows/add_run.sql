-- Creates a run and its job. Called by svc.start_workflow and svc_private.start_system_workflow, which name the user.
-- This function checks nothing, so no other role may execute it.
--
-- The same idempotency key of the same user and workflow returns the existing run; the system has separate keys. Of two
-- concurrent calls, the second waits for the first, and creates the run itself if that rolls back.
create or replace function svc_private.add_run(
  owner text, as_system boolean, workflow text, code_version integer, run_args json, run_key text,
  longest interval, most_running integer
)
returns uuid
language plpgsql
volatile
set search_path = ''
as $$
declare
  made uuid;
begin
  insert into svc.workflow_runs
      (name, version, args, user_id, is_system, idempotency_key, max_running, max_duration, deadline)
    values (workflow, code_version, run_args, owner, as_system, run_key, most_running, longest,
      clock_timestamp() + longest)
    on conflict (name, idempotency_key, user_id, is_system) where idempotency_key is not null do nothing
    returning id into made;
  if made is null then
    select r.id into strict made from svc.workflow_runs r
     where r.name = workflow and r.idempotency_key = run_key and r.user_id is not distinct from owner
       and r.is_system = as_system;
    return made;
  end if;
  perform svc_private.wake_run(made, clock_timestamp());
  perform svc_private.tell_run(made, owner);
  return made;
end
$$;

revoke execute on function svc_private.add_run(text, boolean, text, integer, json, text, interval, integer) from svc_system;

comment on function svc_private.add_run(text, boolean, text, integer, json, text, interval, integer) is
  'Creates a run and its job, and returns its id, or the id of an earlier run with the same idempotency key.';
