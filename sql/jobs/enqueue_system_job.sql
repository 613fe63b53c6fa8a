-- As svc.enqueue_job, for a job of the system. Called by ctx.scheduler in code that already runs as the system, by
-- svc_private.claim_cron and by svc_private.act_run_cron. SECURITY DEFINER for the queue's notification, which svc_system may
-- not send itself.

create or replace function svc_private.enqueue_system_job(
  procedure text, args json, delay interval, due timestamptz, request_id text
)
returns bigint
language sql
volatile
security definer
set search_path = ''
as $$
  select svc_private.add_procedure_job(
    '{"kind": "system"}', procedure, args, coalesce(due, clock_timestamp() + delay), request_id
  )
$$;

comment on function svc_private.enqueue_system_job(text, json, interval, timestamptz, text) is
  'Enqueues a call of an internal procedure as the system, at a time or after a delay; returns the job''s id. '
  'Definer: svc_system may not notify the queue.';
