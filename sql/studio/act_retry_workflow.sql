-- An operator's retry of a run that failed or was cancelled, with its line in svc.operator_acts. Called by `svc workflows retry` and Studio.

create or replace function svc_private.act_retry_workflow(run_id uuid, from_step text)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  answer constant text := svc_private.retry_any_workflow(run_id, from_step);
begin
  if answer = 'accepted' then
    perform svc_private.note_act('act_retry_workflow', jsonb_build_object('run', run_id, 'from', from_step), answer);
  end if;
  return answer;
end
$$;

comment on function svc_private.act_retry_workflow(uuid, text) is
  'Continues a run that failed or was cancelled and writes the act: accepted, active, no_step or unknown. '
  'Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_retry_workflow(uuid, text) to svc_studio_act;
