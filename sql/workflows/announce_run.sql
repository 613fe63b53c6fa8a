-- Tells subscribers of a run, or of a list that contains it, that it changed: by a message in the write-ahead log, so
-- on commit and never before. Called by every function here that changes a run. Only its user may subscribe
-- (subscription-topics.ts).
create or replace function svc_private.announce_run(run_id uuid, user_id text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
begin
  if announce_run.user_id is not null then
    perform pg_catalog.pg_logical_emit_message(true, 'svc', jsonb_build_object(
      'workflow', announce_run.run_id, 'user', announce_run.user_id)::text);
  end if;
end
$$;

revoke execute on function svc_private.announce_run(uuid, text) from svc_system;

comment on function svc_private.announce_run(uuid, text) is
  'Notifies the user''s subscribers on commit that a run changed.';
