-- Removes conversions that have not been used for a given time. Called by workers/tasks/sweep-storage.ts as svc_system,
-- once a day. A run that waits longer than that and then needs its document again fails with an error that says so.

create or replace function svc_private.sweep_conversions(unused interval)
returns integer
language sql
volatile
set search_path = ''
as $$
  with removed as (
    delete from svc_private.document_conversions c where c.used_at < now() - unused returning c.id
  )
  select count(*)::integer from removed
$$;

comment on function svc_private.sweep_conversions(interval) is
  'Removes cached conversions that were not used for a given time.';
