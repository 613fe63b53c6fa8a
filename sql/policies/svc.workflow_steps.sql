-- Checkpoints of workflows: users read their own. INSERT, UPDATE and DELETE are not granted: only the functions in
-- sql/workflows/ change a run, because they keep its states and its job consistent.

alter table svc.workflow_steps enable row level security;

create policy select_owner on svc.workflow_steps
  for select to svc_authenticated
  using (user_id = (select svc.current_user_id()));

grant select (
  seq, run_id, position, kind, name, is_done, result, error, timed_out, user_id, due_at, started_at, finished_at
) on svc.workflow_steps to svc_authenticated;

comment on policy select_owner on svc.workflow_steps is 'Users read the checkpoints of their own workflows.';
