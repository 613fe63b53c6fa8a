-- Why a run has failed, for the log of the worker whose claim ended it (svc_private.claim_run). Called by
-- src/workflows/execute.ts. By the key: runs that wait for a place are asked about too.

create or replace function svc_private.failure_of_run(run_id uuid)
returns table (name text, message text)
language sql
stable
set search_path = ''
as $$
  select r.name, coalesce(r.error_detail, r.error ->> 'message')
    from svc.workflow_runs r
   where r.id = run_id and r.status = 'failed'
$$;

comment on function svc_private.failure_of_run(uuid) is 'Name and error of a run that has failed; no row for any other.';
