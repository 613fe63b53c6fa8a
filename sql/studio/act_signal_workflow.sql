-- An operator's event to a run, with its line in svc.operator_acts. The line has the event's name, not its content.

create or replace function svc_private.act_signal_workflow(run_id uuid, event text, content json)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  answer constant text := svc_private.signal_any_workflow(run_id, event, content);
begin
  if answer = 'accepted' then
    perform svc_private.note_act('act_signal_workflow', jsonb_build_object('run', run_id, 'event', event), answer);
  end if;
  return answer;
end
$$;

comment on function svc_private.act_signal_workflow(uuid, text, json) is
  'Sends an event to a run and writes the act: accepted, ended, full or unknown. '
  'Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_signal_workflow(uuid, text, json) to svc_studio_act;
