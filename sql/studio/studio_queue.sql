-- The state of the queue, for Studio's first page (sql/jobs/queue_state.sql). Volatile, as that function is.

create or replace function svc_private.studio_queue()
returns table (due bigint, running bigint, scheduled bigint, failing bigint, dead bigint, oldest_due_seconds float8)
language sql
volatile
security definer
set search_path = ''
as $$
  select * from svc_private.queue_state()
$$;

comment on function svc_private.studio_queue() is
  'Numbers of jobs by state. Definer: svc_studio_read has no rights on the queue''s tables.';

grant execute on function svc_private.studio_queue() to svc_studio_read;
