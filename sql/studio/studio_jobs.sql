-- Jobs of the queue without their payloads, which hold data of users (sql/jobs/list_jobs.sql).

create or replace function svc_private.studio_jobs(only_state text, most integer)
returns table (
  id bigint, kind text, name text, state text, caller text, attempts integer, max_attempts integer, run_at timestamptz,
  last_error text
)
language sql
stable
security definer
set search_path = ''
as $$
  select j.id, j.kind, j.name, j.state, j.caller, j.attempts, j.max_attempts, j.run_at, left(j.last_error, 500)
    from svc_private.list_jobs(only_state, null, most) j
$$;

comment on function svc_private.studio_jobs(text, integer) is
  'Jobs of one state, or all, newest first, without their payloads. '
  'Definer: svc_studio_read has no rights on the queue''s tables.';

grant execute on function svc_private.studio_jobs(text, integer) to svc_studio_read;
