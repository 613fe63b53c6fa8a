-- Runs of the system and runs of callers who are not signed in have no user, either of them. They shared idempotency keys: a
-- stranger who knew a key could take it, and the system was given the stranger's run for its own (sql/workflows/add_run.sql).

create unique index workflow_runs_key on svc.workflow_runs (name, idempotency_key, user_id, is_system) nulls not distinct
  where idempotency_key is not null;
drop index svc.workflow_runs_idempotency;
