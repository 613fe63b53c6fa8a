-- Adds the job of a webhook to a procedure, in the transaction that changed the row. Called by the webhook's trigger function. The job
-- runs as the system, as those of crons: psql can change a row, too, where nobody is signed in.

create or replace function svc_private.add_change_job(webhook text, procedure text, body json)
returns bigint
language sql
volatile
set search_path = ''
as $$
  select svc_private.add_procedure_job('{"kind": "system"}', procedure, svc_private.bounded_body(webhook, body), clock_timestamp(),
    nullif(current_setting('svc.request_id', true), ''))
$$;

revoke execute on function svc_private.add_change_job(text, text, json) from svc_system;

comment on function svc_private.add_change_job(text, text, json) is
  'Enqueues the procedure of a webhook with the body of a change, and returns the id of the job.';
