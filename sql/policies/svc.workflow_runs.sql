-- Runs of workflows: users look at their own. Insert, update and delete are not granted: what happens to a run is decided
-- by the functions in sql/workflows/ alone, which keep its states and its job in step.
--
-- Select is granted column by column: error_detail and what the platform counts with are for operators.

alter table svc.workflow_runs enable row level security;

create policy select_owner on svc.workflow_runs
  for select to svc_authenticated
  using (user_id = (select svc.current_user_id()));

grant select (
  id, name, version, args, status, wait_marker, result, error, user_id, attempts, deadline, wake_at, created_at, updated_at,
  started_at, finished_at
) on svc.workflow_runs to svc_authenticated;

comment on policy select_owner on svc.workflow_runs is 'Users read the runs of their own workflows.';
