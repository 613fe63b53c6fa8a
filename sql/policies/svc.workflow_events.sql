-- Events of workflows: users read their own. INSERT, UPDATE and DELETE are not granted: only the functions in
-- sql/workflows/ change a run, because they keep its states and its job consistent.

alter table svc.workflow_events enable row level security;

create policy select_owner on svc.workflow_events
  for select to svc_authenticated
  using (user_id = (select svc.current_user_id()));

grant select (id, run_id, name, payload, user_id, taken_by, created_at) on svc.workflow_events to svc_authenticated;

comment on policy select_owner on svc.workflow_events is 'Users read the events of their own workflows.';
