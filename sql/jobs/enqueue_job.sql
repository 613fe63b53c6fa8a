-- Puts a call of an internal procedure into the queue, in the caller's transaction: the job exists when that commits,
-- and never when it rolls back. Called by ctx.scheduler (src/jobs/context.ts).
--
-- SECURITY DEFINER, because requests may not access the queue's tables. The user of the job is read from the
-- transaction and is not an argument. The request *roles* may not execute this function: internal procedures trust
-- their arguments, and SQL that was injected into a request must not reach them. Only the login may. The context resets
-- the role for this one statement (RequestTransaction.asLogin), which no SQL fragment can do.

create or replace function svc.enqueue_job(procedure text, args json, delay interval, due timestamptz, request_id text)
returns bigint
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  user_id constant text := svc.current_user_id();
begin
  if current_setting('transaction_read_only')::boolean then
    raise exception 'a query cannot enqueue' using errcode = '25006';
  end if;
  return svc_private.add_procedure_job(
    case when user_id is null then '{"kind": "anonymous"}'
         else jsonb_build_object('kind', 'user', 'userId', user_id) end,
    procedure, args, coalesce(due, clock_timestamp() + delay), request_id
  );
end
$$;

grant execute on function svc.enqueue_job(text, json, interval, timestamptz, text) to svc_request;
revoke execute on function svc.enqueue_job(text, json, interval, timestamptz, text) from svc_system;

comment on function svc.enqueue_job(text, json, interval, timestamptz, text) is
  'Enqueues a call of an internal procedure as the current user, at a time or after a delay; returns the job''s id. '
  'Definer: requests have no rights on the queue''s tables; the job''s user is read from the transaction.';
