-- Finished jobs for Studio.

create or replace function svc_private.studio_job_history(
  only_name text, only_outcome text, least_ms integer, before bigint, most integer
)
returns table (
  entry bigint, job bigint, kind text, name text, outcome text, attempts integer, run_at timestamptz,
  started_at timestamptz, finished_at timestamptz, ms float8
)
language sql
stable
security definer
set search_path = ''
as $$
  select * from svc_private.list_job_history(only_name, only_outcome, least_ms, before, most)
$$;

comment on function svc_private.studio_job_history(text, text, integer, bigint, integer) is
  'Jobs that finished lately, newest first. Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_job_history(text, text, integer, bigint, integer) to svc_studio_read;
