-- Events of workflows: users look at their own. Insert, update and delete are not granted: what happens to a run is decided
-- by the functions in sql/workflows/ alone, which keep its states and its job in step.

alter table svc.workflow_events enable row level security;

create policy select_owner on svc.workflow_events
  for select to svc_authenticated
  using (user_id = (select svc.current_user_id()));

grant select (id, run_id, name, payload, user_id, taken_by, created_at) on svc.workflow_events to svc_authenticated;

comment on policy select_owner on svc.workflow_events is 'Users read the events of their own workflows.';
