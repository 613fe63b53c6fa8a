-- Removes conversions that have not been used for a given time, and after a day those of deleted files: what a user deleted
-- must not stay here as text. Called by workers/tasks/sweep-storage.ts as svc_system, once a day. Conversions of unfinished
-- runs stay for the given time, because a handler may delete the file before it uses the text. A run that waits longer
-- and then needs its document again fails with an error that says so.

create or replace function svc_private.sweep_conversions(unused interval)
returns integer
language sql
volatile
set search_path = ''
as $$
  with without_file as (
    select c.id from svc_private.document_conversions c
     where c.used_at < now() - interval '1 day'
       and not exists (select from svc.storage_objects o where o.sha256 = c.sha256)
       and not exists (
         select from svc.workflow_runs r join svc.workflow_steps s on s.run_id = r.id
          where r.status in ('pending', 'running') and s.name = 'document.convert' and s.result #>> '{json,conversionId}' = c.id::text
       )
  ), removed as (
    delete from svc_private.document_conversions c
     where c.used_at < now() - unused or c.id in (select id from without_file)
    returning c.id
  )
  select count(*)::integer from removed
$$;

comment on function svc_private.sweep_conversions(interval) is
  'Removes cached conversions that were not used for a given time, and those of deleted files.';
