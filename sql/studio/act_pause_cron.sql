-- Pauses a cron, or lets it continue, with the line in svc.operator_acts. Called by `svc crons pause | resume` and
-- Studio. While a cron is paused its times pass without a job (sql/jobs/claim_cron.sql).

create or replace function svc_private.act_pause_cron(cron text, paused boolean)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  update svc_private.crons c set paused_at = case when paused then clock_timestamp() end
   where c.name = cron and (c.paused_at is not null) <> paused;
  if not found then
    return false;
  end if;
  perform svc_private.note_act(
    'act_pause_cron', jsonb_build_object('cron', cron), case when paused then 'paused' else 'resumed' end);
  return true;
end
$$;

comment on function svc_private.act_pause_cron(text, boolean) is
  'Pauses or resumes a cron and writes the act; false, and no line, when it is so already or not registered. '
  'Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_pause_cron(text, boolean) to svc_studio_act;
