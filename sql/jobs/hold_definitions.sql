-- Marks internal procedures, crons and versions of workflows as those of a living worker, until this connection ends. Called
-- by workers/worker-lock.ts, on the connection that marks the worker as alive. The texts: "procedure NAME",
-- "cron NAME SCHEDULE", "workflow NAME VERSION".
--
-- During a release two releases run at once. svc_private.claim_cron() replaces a schedule that no worker holds, and a
-- worker leaves a job or run that it does not know to the one that does (svc_private.is_held_by_worker).

create or replace function svc_private.hold_definitions(definitions text[])
returns void
language sql
volatile
set search_path = ''
as $$
  select pg_catalog.pg_advisory_lock_shared(726502191, pg_catalog.hashtext(d)) from pg_catalog.unnest(definitions) d
$$;

comment on function svc_private.hold_definitions(text[]) is
  'Holds the locks that mark procedures, crons and workflows as those of a living worker, until this session ends.';
