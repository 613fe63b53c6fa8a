-- The run, if svc_private.claim_run() has just failed it: its time was up, or it ended its workers. Called by
-- src/workflows/execute.ts for the log. A run whose handler has failed is not among them: the log has it already, and its detail may
-- quote values.

create or replace function svc_private.ended_by_claim(run_id uuid)
returns table (name text, reason text)
language sql
stable
set search_path = ''
as $$
  select r.name, r.error_detail
    from svc.workflow_runs r
   where r.id = run_id and r.status = 'failed' and r.updated_at > now() - interval '10 seconds'
     and r.error_detail ~ '^(maxDuration was|claimed 10 times)'
$$;

comment on function svc_private.ended_by_claim(uuid) is
  'The name of a run that svc_private.claim_run() has failed within 10 seconds, and why.';
