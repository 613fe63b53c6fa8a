-- Tells a run of the workflow rag.ingest whether a later run has already stored this document: the same sourceUri in the
-- same scope. Called in the run's last step (src/rag/ingest-workflow.ts), which then stores nothing. Otherwise a large
-- file, or a step that is retried, would replace a version that its user uploaded later.
--
-- The lock is that of svc.find_unchanged(): of two runs that end at the same time, the second one sees what the first has
-- committed. A step's checkpoint commits with what it stored, so it tells what the status of a run tells only later.
-- Invoker's rights: callers see their own runs.

create or replace function svc.find_newer_document(run_id uuid)
returns jsonb  -- {sourceId, status: superseded, sections, chunks}; null when no later run has stored it
language plpgsql
volatile
set search_path = ''
as $$
declare
  owner constant text := svc.current_user_id();
  run record;
  document jsonb;
begin
  select r.name, r.user_id, r.created_at, r.args::jsonb #> '{json,document}' as document into run
    from svc.workflow_runs r where r.id = find_newer_document.run_id;
  document := run.document;
  if document ->> 'sourceUri' is null then
    return null;
  end if;
  perform svc_hidden.lock_document(
    document #>> '{scope,corpus}', document #>> '{scope,visibility}', document ->> 'sourceUri');
  -- A separate statement, so that it sees rows that were committed while the lock was awaited.
  return (
    select jsonb_build_object(
             'sourceId', s.id,
             'status', 'superseded',
             'sections', (select count(*) from svc.rag_sections where source_id = s.id),
             'chunks', (select count(*) from svc.rag_chunks where source_id = s.id)
           )
      from svc.rag_sources s
     where s.corpus = document #>> '{scope,corpus}' and s.visibility = document #>> '{scope,visibility}'
       and (s.owner_id = owner or owner is null and s.owner_id is null) and s.key = document ->> 'sourceUri'
       and exists (
         select from svc.workflow_runs newer
           join svc.workflow_steps step on step.run_id = newer.id
          where newer.name = run.name and newer.user_id is not distinct from run.user_id and newer.created_at > run.created_at
            and step.name = 'rag.ingest' and step.is_done and step.error is null
            and newer.args::jsonb #>> '{json,document,scope,corpus}' = s.corpus
            and newer.args::jsonb #>> '{json,document,scope,visibility}' = s.visibility
            and newer.args::jsonb #>> '{json,document,sourceUri}' = s.key)
  );
end
$$;

comment on function svc.find_newer_document(uuid) is
  'The document that a run of rag.ingest is about to store, if a later run of the caller has stored it; null otherwise.';

grant execute on function svc.find_newer_document(uuid) to svc_authenticated;
