-- Runs with a step that failed since a time: they have failed, or will be retried. Called by workers/run-due.ts, for
-- tests of applications.

create or replace function svc_private.list_failed_runs(since timestamptz)
returns table (id uuid, name text, message text)
language sql
stable
set search_path = ''
as $$
  select r.id, r.name, coalesce(r.error_detail, r.error ->> 'message')
    from svc.workflow_runs r
   where r.error is not null and r.updated_at >= since and (r.status = 'failed' or r.wait_marker = 'retry')
$$;

comment on function svc_private.list_failed_runs(timestamptz) is
  'Runs with a step that has failed since a time, and the step''s error.';
