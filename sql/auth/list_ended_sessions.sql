-- Which of these sessions and API keys have expired or are gone. Called by src/auth/sessions/held-sessions.ts as svc_auth, once a
-- minute and process: the end of a session by time sends no notice (notify_session_end.sql).

create or replace function auth.list_ended_sessions(ids text[])
returns setof text
language sql
stable
set search_path = ''
as $$
  select given.id
    from unnest(list_ended_sessions.ids) as given (id)
   where not exists (select from auth.session s where s.id = given.id and s.expires_at > pg_catalog.now())
     and not exists (select from auth.api_key k where k.id = given.id and k.expires_at > pg_catalog.now())
$$;

grant execute on function auth.list_ended_sessions(text[]) to svc_auth;

comment on function auth.list_ended_sessions(text[]) is 'Which of the sessions and API keys with these ids are no longer valid.';
