-- Tells every process that a session has ended, so that none still accepts its cached tokens: the session token
-- and the JWTs that were issued from it. src/auth/sessions/revocations.ts listens. It covers every way to end a session:
-- a sign-out, a deleted user through the foreign key, a DBA in psql. The notice is sent with the commit, never without
-- it. A revoked API key sends the same: its id stands for the session of its calls.
--
-- One notice per row, because listeners need a notice per session, and a payload may have 8,000 bytes. Expired sessions
-- send no notice: no JWT outlives its session, so sweeping 10,000 of them sends nothing. Each process asks for those of
-- its sockets and streams (list_ended_sessions.sql). Extending a session sends nothing either; setting an earlier end
-- does. TRUNCATE does not say which sessions ended, so all cached sessions are forgotten.
--
-- Where triggers do not fire (session_replication_role = replica, pg_restore --disable-triggers, a disabled trigger),
-- cached tokens remain valid for up to five minutes. To revoke them at once, send a notice by hand:
--   notify svc_auth, '{}';
-- Anybody may NOTIFY, which does no harm: a forged notice can only make the processes read the table again.
--
-- The same message goes into the write-ahead log. There it has its place among all other changes, so that no socket of
-- the session receives a change that commits later (src/realtime/transaction-events.ts). The arrival time of a notice
-- is not ordered in that way.
--
-- SECURITY DEFINER, because no other role may call pg_notify() and pg_logical_emit_message() (sql/grants.sql).

create or replace function auth.notify_session_end()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
declare
  notice constant text := case tg_level
    when 'ROW' then json_build_object('user', old.user_id, 'session', old.id)::text
    else '{}'
  end;
begin
  perform pg_catalog.pg_notify('svc_auth', notice);
  perform pg_catalog.pg_logical_emit_message(true, 'svc_auth', notice);
  return null;
end
$$;

comment on function auth.notify_session_end() is
  'Trigger of auth.session and auth.api_key: sends a notice that its tokens are invalid. '
  'Definer: only svc_owner may notify and write messages into the log.';

create or replace trigger notify_deleted
  after delete on auth.session
  for each row when (old.expires_at > now())
  execute function auth.notify_session_end();

create or replace trigger notify_shortened
  after update on auth.session
  for each row when (new.expires_at < old.expires_at or new.user_id <> old.user_id or new.id <> old.id)
  execute function auth.notify_session_end();

create or replace trigger notify_truncated
  after truncate on auth.session
  for each statement execute function auth.notify_session_end();

comment on trigger notify_deleted on auth.session is 'Not for expired sessions, so that sweeping sends no notices.';
comment on trigger notify_shortened on auth.session is 'Not for sessions that are extended, which happens daily.';
comment on trigger notify_truncated on auth.session is 'Sends a notice that all sessions have ended.';

create or replace trigger notify_deleted
  after delete on auth.api_key
  for each row when (old.expires_at > now())
  execute function auth.notify_session_end();

create or replace trigger notify_changed
  after update on auth.api_key
  for each row when (
    new.expires_at < old.expires_at or new.user_id <> old.user_id or new.id <> old.id or new.hash <> old.hash
    or new.scopes <> old.scopes
  )
  execute function auth.notify_session_end();

create or replace trigger notify_truncated
  after truncate on auth.api_key
  for each statement execute function auth.notify_session_end();

comment on trigger notify_deleted on auth.api_key is 'Sends a notice that the key was revoked; not for expired keys.';
comment on trigger notify_changed on auth.api_key is 'For a DBA''s change. Not for the time of the last use.';
comment on trigger notify_truncated on auth.api_key is 'Sends a notice that all sessions and keys have ended.';
