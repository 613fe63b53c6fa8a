-- Whether a session or an API key is valid. Called by src/auth/sessions/session-store.ts as svc_auth, when a socket's ticket
-- is redeemed: the session may have ended since the ticket was issued. The id of a key stands for the session of its calls.

create or replace function auth.has_session(session_id text)
returns boolean
language sql
stable
set search_path = ''
as $$
  select exists (select from auth.session s where s.id = has_session.session_id and s.expires_at > pg_catalog.now())
      or exists (select from auth.api_key k join auth."user" u on u.id = k.user_id
                  where k.id = has_session.session_id and k.expires_at > pg_catalog.now() and not auth.is_banned(u))
$$;

grant execute on function auth.has_session(text) to svc_auth;

comment on function auth.has_session(text) is 'Whether the session or API key with this id is valid.';
