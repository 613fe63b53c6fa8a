-- Marks the schedules of a worker's crons as those of a living worker, until this connection ends. Called by
-- workers/worker-lock.ts, on the connection that marks the worker as alive. Each text is a cron's name, a space and its schedule.
-- svc_private.claim_cron() replaces a schedule that no worker holds.

create or replace function svc_private.hold_crons(crons text[])
returns void
language sql
volatile
set search_path = ''
as $$
  select pg_catalog.pg_advisory_lock_shared(726502191, pg_catalog.hashtext(c)) from pg_catalog.unnest(crons) c
$$;

comment on function svc_private.hold_crons(text[]) is
  'Holds the locks that mark schedules of crons as those of a living worker, until this session ends.';
