-- Whether a JWT is still valid: its session exists and has not expired, and its user's row has not changed since it was
-- issued. Called by src/auth/sessions/jwt.ts as a prepared statement, as svc_auth: once per process and token while
-- notices arrive, otherwise on every call. Two index probes, inlined as auth.find_session() is.

create or replace function auth.check_session(session_id text, user_id text, version bigint)
returns table (expires_at timestamptz)
language sql
stable
rows 1
as $$
  select s.expires_at
    from auth.session s
    join auth."user" u on u.id = s.user_id
   where s.id = check_session.session_id
     and s.expires_at > pg_catalog.now()
     and u.id = check_session.user_id
     and pg_catalog.floor(extract(epoch from u.updated_at) * 1000)::bigint = check_session.version
$$;

grant execute on function auth.check_session(text, text, bigint) to svc_auth;

comment on function auth.check_session(text, text, bigint) is
  'When this session of this user ends; no row if it has ended, or if the user''s row has another version. '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';
