-- Removes conversions that have not been used for a given time, and after a day those of deleted files: what a user deleted
-- must not stay here as text. Called by workers/tasks/sweep-storage.ts as svc_system, once a day. Conversions of unfinished
-- runs stay for the given time, because a handler may delete the file before it uses the text. A run that waits longer
-- and then needs its document again fails with an error that says so.
--
-- The conversions that unfinished runs have in their checkpoints are collected once. As NOT EXISTS, a million rows were joined by
-- a nested loop, which read these checkpoints again for each conversion and ended at the statement's time limit.
--
-- It works in batches, so that no transaction holds many locks or lasts long; the caller calls again while there is more.
-- Rows that are locked by another session are left for the next time.

create or replace function svc_private.sweep_conversions(unused interval, batch integer)
returns integer
language sql
volatile
set search_path = ''
set work_mem = '64MB'  -- room for a hash table of these conversions
as $$
  with old as (
    select c.id from svc_private.document_conversions c where c.used_at < now() - sweep_conversions.unused
    union all
    select c.id from svc_private.document_conversions c
     where c.used_at < now() - interval '1 day' and c.used_at >= now() - sweep_conversions.unused
       and not exists (select from svc.storage_objects o where o.sha256 = c.sha256)
       and c.id::text not in (
         select s.result #>> '{json,conversionId}'
           from svc.workflow_runs r join svc.workflow_steps s on s.run_id = r.id
          where r.status in ('pending', 'running') and s.name = 'document.convert' and s.result #>> '{json,conversionId}' is not null
       )
    limit sweep_conversions.batch
  ), chosen as (
    -- The time again: another session may have used it meanwhile.
    select c.id from svc_private.document_conversions c
     where c.id in (select id from old) and c.used_at < now() - least(sweep_conversions.unused, interval '1 day')
       for update skip locked
  ), removed as (
    delete from svc_private.document_conversions c where c.id in (select id from chosen) returning c.id
  )
  select count(*)::integer from removed
$$;

comment on function svc_private.sweep_conversions(interval, integer) is
  'Removes cached conversions that were not used for a given time, and those of deleted files, up to a limit; returns their number.';

-- For workers of versions of svc that know no limit: those that a release replaces, or that take its place again.
create or replace function svc_private.sweep_conversions(unused interval)
returns integer
language sql
volatile
set search_path = ''
as $$
  select svc_private.sweep_conversions(unused, 1000)
$$;

comment on function svc_private.sweep_conversions(interval) is
  'Removes cached conversions for a worker of an earlier version of svc.';
