-- Tells every process that a user's row has changed, so that none still uses tokens that it cached before.
-- src/auth/sessions/revocations.ts listens. The notice is sent with the commit, never without it.
--
-- A deleted user needs no notice of its own: the foreign key deletes the sessions, and each of them sends one. The
-- message also goes into the write-ahead log, for the reason in notify_session_end.sql. SECURITY DEFINER, because no
-- other role may call pg_notify() and pg_logical_emit_message() (sql/grants.sql).

create or replace function auth.notify_user_change()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  notice constant text := json_build_object('user', old.id)::text;
begin
  perform pg_catalog.pg_notify('svc_auth', notice);
  perform pg_catalog.pg_logical_emit_message(true, 'svc_auth', notice);
  return null;
end
$$;

comment on function auth.notify_user_change() is
  'Trigger of auth."user": sends a notice that JWTs of this user are outdated. '
  'Definer: only svc_owner may notify and write messages into the log.';

create or replace trigger notify_change
  after update on auth."user"
  for each row when (old.updated_at is distinct from new.updated_at)
  execute function auth.notify_user_change();

comment on trigger notify_change on auth."user" is 'Once per new version, see advance_version.';
