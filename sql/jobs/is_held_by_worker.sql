-- Whether a living worker has an internal procedure, a cron with this schedule, or this version of a workflow, given as in
-- sql/jobs/hold_definitions.sql. Called by svc_private.claim_cron(), and by workers/tasks/procedure.ts and
-- src/workflows/execute.ts for a job or run that the worker does not know. If none has it, that stays so until the transaction
-- ends. Of two that ask at the same time, one is told yes.

create or replace function svc_private.is_held_by_worker(definition text)
returns boolean
language sql
volatile
set search_path = ''
as $$
  select not pg_catalog.pg_try_advisory_xact_lock(726502191, pg_catalog.hashtext(definition))
$$;

comment on function svc_private.is_held_by_worker(text) is
  'Whether a living worker has this procedure, this cron with its schedule, or this version of a workflow.';
