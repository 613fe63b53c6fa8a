-- A user by id, in the form in which sessions show users: for jobs and workflows, which run as a user without a
-- session. Called by src/auth/sessions/find-user.ts as svc_system. fields: see auth.find_session().

create or replace function auth.find_user(user_id text)
returns table (email text, name text, fields jsonb)
language sql
stable
rows 1
as $$
  select u.email, u.name,
         pg_catalog.to_jsonb(u) - array['id', 'email', 'name', 'email_verified', 'image', 'created_at', 'updated_at']
    from auth."user" u
   where u.id = find_user.user_id
$$;

comment on function auth.find_user(text) is
  'The user with this id; no row if there is none. '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';
