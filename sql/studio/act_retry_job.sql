-- An operator's retry of a job, with its line in svc.operator_acts. Called by `svc jobs retry` and Studio.

create or replace function svc_private.act_retry_job(job_id bigint)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if not svc_private.retry_job(job_id) then
    return false;
  end if;
  perform svc_private.note_act('act_retry_job', jsonb_build_object('job', job_id), 'retried');
  return true;
end
$$;

comment on function svc_private.act_retry_job(bigint) is
  'Makes a job due now and writes the act; false, and no line, when no job has this id, or it runs. '
  'Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_retry_job(bigint) to svc_studio_act;
