-- Records for 30 days that an account signed in from a network: its failures from there are now counted separately,
-- starting at zero. Called by src/auth/passwords/attempts.ts as svc_auth, after the right password.

create or replace function auth.remember_address(kind text, known_subject text)
returns void
language sql
volatile
set search_path = ''
as $$
  insert into auth.attempt as a (kind, subject, count, began_at, ends_at, kept_until)
  values (remember_address.kind, remember_address.known_subject, 0, now(), now(), now() + interval '30 days')
  on conflict (kind, subject) do update set count = 0, kept_until = excluded.kept_until
$$;

grant execute on function auth.remember_address(text, text) to svc_auth;

comment on function auth.remember_address(text, text) is
  'For the next 30 days, failures of this account from this network have their own counter.';
