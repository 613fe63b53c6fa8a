-- Redeems a token, once: the row is deleted by the statement that returns it. Of many callers at the same moment one
-- finds the row; the others wait for its lock and then find nothing. Called by src/auth/mail/one-time-tokens.ts as
-- svc_auth.

create or replace function auth.take_one_time_value(purpose text, token_hash text)
returns jsonb
language sql
volatile
set search_path = ''
as $$
  delete from auth.verification v
   where v.identifier = take_one_time_value.purpose || ':' || take_one_time_value.token_hash and v.expires_at > now()
  returning v.value::jsonb
$$;

grant execute on function auth.take_one_time_value(text, text) to svc_auth;

comment on function auth.take_one_time_value(text, text) is
  'The content stored under this purpose and token hash, exactly once; null if there is none or it has expired.';
