-- Tells every process that a session is over, so that none goes on believing the JWTs that were issued from it. Heard
-- by src/auth/sessions/revocations.ts, whoever ended the session: a sign-out, a deleted user through the foreign key, a DBA in
-- psql. The notice goes out with the commit, never without it.
--
-- Row by row, since a notice per session is what the listeners need, and a payload may have 8,000 bytes. Expired
-- sessions are told to nobody: no JWT outlives its session, so sweeping 10,000 of them sends nothing. Sliding sends
-- nothing either; bringing the end forward does. TRUNCATE says neither who nor which, so everything is forgotten.
--
-- Where triggers do not fire (session_replication_role = replica, pg_restore --disable-triggers, a disabled trigger),
-- JWTs last out their five minutes. To be sure, say so by hand: notify svc_auth, '{}';
-- That anybody may NOTIFY does no harm: the worst that a forged notice does is to make the processes look again.
--
-- The same goes into the write-ahead log: there it has its place among all other changes, so that no socket of the session
-- is told of any that commits later (src/realtime/transaction-events.ts). A notice comes when it comes.
--
-- SECURITY DEFINER, since nobody else may call pg_notify() and pg_logical_emit_message() (sql/grants.sql).

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
  'Trigger of auth.session: tells that its JWTs are not to be believed. '
  'Definer: nobody else may notify and write messages into the log.';

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

comment on trigger notify_deleted on auth.session is 'Expired sessions excepted, so that sweeping tells nobody.';
comment on trigger notify_shortened on auth.session is 'Ends that move forward, as they do daily, are not told.';
comment on trigger notify_truncated on auth.session is 'Tells that all sessions are gone.';
