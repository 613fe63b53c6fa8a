-- An operator's cancellation of a run, with its line in svc.operator_acts. Called by `svc workflows cancel` and Studio.

create or replace function svc_private.act_cancel_workflow(run_id uuid)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  answer constant text := svc_private.cancel_any_workflow(run_id);
begin
  if answer = 'accepted' then
    perform svc_private.note_act('act_cancel_workflow', jsonb_build_object('run', run_id), answer);
  end if;
  return answer;
end
$$;

comment on function svc_private.act_cancel_workflow(uuid) is
  'Ends a run as cancelled and writes the act: accepted, ended or unknown. '
  'Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_cancel_workflow(uuid) to svc_studio_act;
