-- An operator's removal of a job, with its line in svc.operator_acts. Called by `svc jobs cancel` and Studio.

create or replace function svc_private.act_cancel_job(job_id bigint)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  if not svc_private.cancel_any_job(job_id) then
    return false;
  end if;
  perform svc_private.note_act('act_cancel_job', jsonb_build_object('job', job_id), 'cancelled');
  return true;
end
$$;

comment on function svc_private.act_cancel_job(bigint) is
  'Removes a job that is not running and writes the act; false, and no line, when there is none. '
  'Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_cancel_job(bigint) to svc_studio_act;
