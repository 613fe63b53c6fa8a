-- Whether a run is the current user's own, and the policies show it to them. Called by svc.cancel_workflow(),
-- svc.signal_workflow() and svc.retry_workflow(), before they change the run as the owner of the tables.
-- SECURITY DEFINER, owned by a reader, so that restrictive policies of the application apply. A permissive policy lets
-- other users read a run but not change it, hence the comparison with the caller.
create or replace function svc_private.shows_own_run(run_id uuid)
returns boolean
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return exists (
    select from svc.workflow_runs r where r.id = shows_own_run.run_id and r.user_id = svc.current_user_id());
end
$$;

call svc_private.run_as_reader('svc_private.shows_own_run(uuid)', 'svc_reader_authenticated');
revoke execute on function svc_private.shows_own_run(uuid) from svc_authenticated;  -- only the three functions call it

comment on function svc_private.shows_own_run(uuid) is
  'Whether a run is the current user''s own and the policies show it. '
  'Definer: a reader owns it, so that policies for signed-in users apply also inside functions of the tables'' owner.';
