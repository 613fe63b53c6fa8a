-- The numbers that the service also shows as metrics (sql/ops/service_state.sql), for Studio's panels.

create or replace function svc_private.studio_figures()
returns table (metric text, state text, value float8)
language sql
stable
security definer
set search_path = ''
as $$
  select * from svc_private.service_state()
$$;

comment on function svc_private.studio_figures() is
  'Numbers of runs, files, bytes, credits and of the log that replication slots keep. '
  'Definer: svc_studio_read reads tables only as a user.';

grant execute on function svc_private.studio_figures() to svc_studio_read;
