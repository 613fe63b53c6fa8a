-- Runs of workflows: users read their own. INSERT, UPDATE and DELETE are not granted: only the functions in
-- sql/workflows/ change a run, because they keep its states and its job consistent.
--
-- SELECT is granted by column: error_detail and the platform's counters are for operators.

alter table svc.workflow_runs enable row level security;

create policy select_owner on svc.workflow_runs
  for select to svc_authenticated
  using (user_id = (select svc.current_user_id()));

grant select (
  id, name, version, args, status, wait_marker, result, error, user_id, attempts, deadline, wake_at, created_at, updated_at,
  started_at, finished_at
) on svc.workflow_runs to svc_authenticated;

comment on policy select_owner on svc.workflow_runs is 'Users read the runs of their own workflows.';
