-- How the queue is doing, in one row: for metrics and `svc doctor`.

create or replace function svc_private.queue_state()
returns table (due bigint, running bigint, scheduled bigint, failing bigint, dead bigint, oldest_due_seconds float8)
language sql
stable
set search_path = ''
as $$
  select count(*) filter (where j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now()),
         count(*) filter (where j.locked_at is not null),
         count(*) filter (where j.locked_at is null and j.attempts < j.max_attempts and j.run_at > now()),
         count(*) filter (where j.attempts between 1 and j.max_attempts - 1 and j.locked_at is null),
         count(*) filter (where j.attempts >= j.max_attempts and j.locked_at is null),
         coalesce(extract(epoch from now() - min(j.run_at) filter (
           where j.locked_at is null and j.attempts < j.max_attempts and j.run_at <= now())), 0)
    from graphile_worker._private_jobs j
$$;

comment on function svc_private.queue_state() is
  'Numbers of jobs by state (failing ones count as due or scheduled too), and for how long the oldest has been due.';
