-- Each run of a name with max_running that ends lets the one go on that has waited longest: found among all that wait, they made
-- the end of each dearer with every one (sql/workflows/free_slot.sql). And failures are few, but metrics and `svc workflows
-- list` looked for them among all runs of the day (sql/ops/service_state.sql).

create index workflow_runs_slot on svc.workflow_runs (name, created_at, id) where wait_marker = 'slot';
create index workflow_runs_failed on svc.workflow_runs (created_at desc, id desc) where status = 'failed';
