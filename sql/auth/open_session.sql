-- Ends a sign-in by password: the session that better-auth has just created, if the password that was compared is still
-- the stored one. Called by src/auth/sessions/session-store.ts as svc_auth.
--
-- The library inserts the session, so that the hooks of the application and of plugins run. Hashing takes long, and the
-- password may have been replaced meanwhile. auth.session and auth.account are read by one statement, which begins
-- after the insert was committed. Either it sees the new hash, and there is no row; or the replacement commits later,
-- and then ends this session itself (src/auth/passwords/passwords.ts). The caller deletes a session that gets no row.
--
-- The same call keeps the books of the attempt, instead of two more round trips. The subject that remember_address()
-- writes sorts behind the account and before the network (auth.take_attempt() locks in this order), and no call of
-- take_attempt() locks both it and the account. So this order cannot deadlock.

create or replace function auth.open_session(
  session_token text,
  seen_hash text,
  receipt jsonb,        -- of auth.take_attempt(), to give back; null: nothing was counted
  known_kind text,      -- for auth.remember_address()
  known_subject text    -- null: nothing is remembered
)
returns table (
  session_id text, expires_at timestamptz, user_id text, version bigint, email text, name text, fields jsonb
)
language plpgsql
volatile
rows 1
set search_path = ''
as $$
begin
  return query
    select s.*
      from auth.find_session(open_session.session_token) s
     where exists (
       select from auth.account a
        where a.user_id = s.user_id and a.account_id = s.user_id and a.provider_id = 'credential'
          and a.password = open_session.seen_hash
     );
  if not found then
    return;
  end if;
  if open_session.known_subject is not null then
    perform auth.remember_address(open_session.known_kind, open_session.known_subject);
  end if;
  if open_session.receipt is not null then
    perform auth.give_back_attempt(open_session.receipt);
  end if;
end
$$;

grant execute on function auth.open_session(text, text, jsonb, text, text) to svc_auth;

comment on function auth.open_session(text, text, jsonb, text, text) is
  'The new session and its user, if the user''s password still has this hash; then the attempt counts as a success.';
