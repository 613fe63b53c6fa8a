-- Ends a run that its worker holds: completed with a result, or failed with an error. Called by
-- src/workflows/execute.ts.
create or replace function svc_private.end_run(
  run_id uuid, held bigint, how text, outcome json, failure json, detail text
)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform svc_private.close_run(svc_private.lock_run(run_id, held), how, outcome, failure, detail);
end
$$;

comment on function svc_private.end_run(uuid, bigint, text, json, json, text) is
  'Ends a run that is held with this fence. '
  'Definer: svc_system has no rights on the queue''s tables.';
