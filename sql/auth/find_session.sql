-- The user of a session token: the join behind every request that carries one. Called by
-- src/auth/sessions/session-store.ts as a prepared statement, as svc_auth.
--
-- Two index probes (session.token, user.id) and one row. A set-returning SQL function without SET clauses is inlined
-- into the calling statement, so it costs the same as the plain join. For that reason search_path is not set, and every
-- name is qualified instead. An expired session counts as missing: the database's clock decides, for all processes
-- alike.
--
-- version is updated_at in milliseconds, which auth.advance_user_version() increases with every change of the row. A
-- JWT contains it, and auth.check_session() compares it; the two expressions have to be the same.
--
-- fields is the user's row without the columns of the library itself: the columns of the application's additional
-- fields. This function need not know their names, so a column that is added later appears without a change here.
--
-- Where an administrator acts as the user, fields has the administrator's id as "session.impersonated_by", which is the name of no
-- column. The column impersonated_by exists only with better-auth's `admin` plugin, so it is read by name.

create or replace function auth.find_session(session_token text)
returns table (
  session_id text, expires_at timestamptz, user_id text, version bigint, email text, name text, fields jsonb
)
language sql
stable
rows 1
as $$
  select s.id, s.expires_at, u.id, pg_catalog.floor(extract(epoch from u.updated_at) * 1000)::bigint, u.email, u.name,
         pg_catalog.to_jsonb(u) - array['id', 'email', 'name', 'email_verified', 'image', 'created_at', 'updated_at']
         || pg_catalog.jsonb_strip_nulls(
              pg_catalog.jsonb_build_object('session.impersonated_by', pg_catalog.to_jsonb(s) ->> 'impersonated_by'))
    from auth.session s
    join auth."user" u on u.id = s.user_id
   where s.token = find_session.session_token and s.expires_at > pg_catalog.now()
$$;

grant execute on function auth.find_session(text) to svc_auth;

comment on function auth.find_session(text) is
  'The live session with this token (without its signature) and its user; no row when unknown or expired. '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';
