-- Stores a value until its token is redeemed: a password reset, an e-mail verification, the state of a social sign-in,
-- its one-time code. Called by src/auth/mail/one-time-tokens.ts as svc_auth.
--
-- The row holds the SHA-256 of the token, not the token itself, so that a copy of the table redeems nothing.

create or replace function auth.add_one_time_value(purpose text, token_hash text, content jsonb, seconds integer)
returns void
language sql
volatile
set search_path = ''
as $$
  insert into auth.verification (id, identifier, value, expires_at)
  values (
    gen_random_uuid()::text,
    add_one_time_value.purpose || ':' || add_one_time_value.token_hash,
    add_one_time_value.content::text,
    now() + make_interval(secs => add_one_time_value.seconds)
  )
$$;

grant execute on function auth.add_one_time_value(text, text, jsonb, integer) to svc_auth;

comment on function auth.add_one_time_value(text, text, jsonb, integer) is
  'Stores content for a number of seconds under a purpose and the SHA-256 of a token, in hex.';
