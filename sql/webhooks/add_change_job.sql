-- Adds the job of a webhook to a procedure, in the transaction that changed the row. Called by the webhook's trigger function. The job
-- runs as the system, as those of crons: psql can change a row, too, where nobody is signed in.
--
-- A longer body refuses the change. A worker loses its connection by a row of 256 MB, and would claim its job again and again. What a
-- request can write is far shorter.

create or replace function svc_private.add_change_job(webhook text, procedure text, body json)
returns bigint
language plpgsql
volatile
set search_path = ''
as $$
begin
  if octet_length(body::text) > 16777216 then
    raise exception 'the webhook % gives a procedure at most 16 MiB', webhook
      using errcode = '54000', hint = 'Leave long columns out of its columns, and read them when the procedure runs.';
  end if;
  return svc_private.add_procedure_job(
    '{"kind": "system"}', procedure, body, clock_timestamp(), nullif(current_setting('svc.request_id', true), ''));
end
$$;

revoke execute on function svc_private.add_change_job(text, text, json) from svc_system;

comment on function svc_private.add_change_job(text, text, json) is
  'Enqueues the procedure of a webhook with the body of a change, and returns the id of the job.';
