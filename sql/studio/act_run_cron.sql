-- An operator's run of a cron outside its schedule, with its line in svc.operator_acts. Called by `svc crons run` and
-- Studio, which take the procedure's name from the application's definition. A worker refuses a procedure that is not
-- internal, and the cron's schedule does not change.

create or replace function svc_private.act_run_cron(cron text, procedure text)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  job constant bigint := svc_private.enqueue_system_job(procedure, null, null, null, 'cron:' || cron);
begin
  perform svc_private.note_act(
    'act_run_cron', jsonb_build_object('cron', cron, 'procedure', procedure), 'enqueued job ' || job);
  return job::text;
end
$$;

comment on function svc_private.act_run_cron(text, text) is
  'Enqueues a cron''s procedure now as the system and writes the act; returns the job''s id. '
  'Definer: no login may write svc.operator_acts.';

grant execute on function svc_private.act_run_cron(text, text) to svc_studio_act;
