-- Sends a notice to one process, by that process itself: if it hears its own, it hears the others too. Called by
-- src/auth/sessions/revocations.ts through its pool, as svc_auth, and heard on its listening connection. Behind a pooler that
-- shares connections, it never is.
--
-- SECURITY DEFINER, since nobody else may call pg_notify() (sql/grants.sql); the channel's beginning is fixed, so that
-- this is no way around the triggers.

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
  'Definer: nobody else may notify; the beginning of the channel is fixed.';
