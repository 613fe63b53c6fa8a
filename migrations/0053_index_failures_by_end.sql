-- Metrics count the runs that failed within a day (sql/ops/service_state.sql). A run may fail long after it was created,
-- so the time of its end decides.

create index workflow_runs_failed_lately on svc.workflow_runs (finished_at) where status = 'failed';
