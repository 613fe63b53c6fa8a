-- Puts a call of an internal procedure into the queue. Called by svc.enqueue_job, svc_private.enqueue_system_job and
-- svc_private.add_change_job, which name the user. This function checks nothing, so no other role may execute it.
--
-- Ten attempts: the waits between them grow from 3 seconds to 2¼ hours, 3½ hours in all. A job that has used them up
-- stays in the queue's table, visible, until someone retries or cancels it.

create or replace function svc_private.add_procedure_job(
  caller jsonb, procedure text, args json, due timestamptz, request_id text
)
returns bigint
language sql
volatile
set search_path = ''
as $$
  select svc_private.add_job(
    'procedure',
    json_build_object('procedure', procedure, 'args', args, 'caller', caller, 'requestId', request_id,
      'trace', svc_private.current_trace()),
    due,
    10
  )
$$;

comment on function svc_private.add_procedure_job(jsonb, text, json, timestamptz, text) is
  'Enqueues a call of an internal procedure on behalf of the given caller, and returns the id of the job.';

revoke execute on function svc_private.add_procedure_job(jsonb, text, json, timestamptz, text) from svc_system;
