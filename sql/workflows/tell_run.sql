-- Tells subscribers of a run, or of a list that contains it, that it changed: by a message in the write-ahead log, so
-- on commit and never before. Called by every function here that changes a run. Only its user may subscribe
-- (subscription-topics.ts).
--
-- Inlined, so no search_path: the call took more time than the message. It returns a value, because PostgreSQL inlines no
-- function that returns void. format(), because jsonb_build_object() takes more time than the rest.

create or replace function svc_private.tell_run(run_id uuid, user_id text)
returns pg_lsn
language sql
volatile
as $$
  select case when tell_run.user_id is not null then
    pg_catalog.pg_logical_emit_message(true, 'svc', pg_catalog.format(
      '{"workflow": "%s", "user": %s}', tell_run.run_id, pg_catalog.to_json(tell_run.user_id)))
  end
$$;

revoke execute on function svc_private.tell_run(uuid, text) from svc_system;

comment on function svc_private.tell_run(uuid, text) is
  'Notifies the user''s subscribers on commit that a run changed. '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';
