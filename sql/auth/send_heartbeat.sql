-- Sends a notice from a process to itself: if it receives its own, it also receives those of others. Called by
-- src/auth/sessions/revocations.ts through its pool, as svc_auth, and received on its listening connection. Behind a
-- pooler that shares connections it never arrives.
--
-- SECURITY DEFINER, because no other role may call pg_notify() (sql/grants.sql). The prefix of the channel is fixed, so
-- that this function cannot send the notices of the triggers.

create or replace function auth.send_heartbeat(listener text)
returns void
language sql
volatile
security definer
set search_path = ''
as $$
  select pg_catalog.pg_notify('svc_auth_' || send_heartbeat.listener, '')
$$;

grant execute on function auth.send_heartbeat(text) to svc_auth;

comment on function auth.send_heartbeat(text) is
  'A notice from a process to itself, on the channel svc_auth_<listener>. '
  'Definer: only svc_owner may notify; the prefix of the channel is fixed.';
