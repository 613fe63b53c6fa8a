-- Whether a session exists and has not expired. Called by src/auth/sessions/session-store.ts as svc_auth, when a
-- socket's ticket is redeemed: the session may have ended since the ticket was issued.

create or replace function auth.has_session(session_id text)
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (select from auth.session s where s.id = has_session.session_id and s.expires_at > pg_catalog.now())
$$;

grant execute on function auth.has_session(text) to svc_auth;

comment on function auth.has_session(text) is 'Whether the session with this id is valid.';
