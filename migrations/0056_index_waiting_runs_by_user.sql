-- Users take turns where a workflow limits how many of its runs may run at a time (sql/workflows/free_slot.sql). In the
-- order of their start, one user with many runs kept all others waiting.

create index workflow_runs_turns on svc.workflow_runs (name, coalesce(user_id, ''), created_at, id) where wait_marker = 'slot';
drop index svc.workflow_runs_slot;
