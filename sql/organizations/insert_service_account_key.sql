-- Inserts an API key of a service account, which the caller gets. Called by svc.add_service_account_key(), which asks the policies.

create or replace function svc_private.insert_service_account_key(
  session_id text,
  account text,
  name text,
  start text,
  hash bytea,
  scopes text[],
  lifetime interval,
  most integer
)
returns table (id text, created_at timestamptz, expires_at timestamptz, refused text)
language sql
volatile
security definer
set search_path = ''
as $$
  select k.*
    from auth.insert_api_key(session_id, svc.current_user_id(), account, name, start, hash, scopes, lifetime, most) k
$$;

grant execute on function svc_private.insert_service_account_key(text, text, text, text, bytea, text[], interval, integer)
  to svc_reader_authenticated;

comment on function svc_private.insert_service_account_key(text, text, text, text, bytea, text[], interval, integer) is
  'A new API key of a service account, or why not: ended, impersonated, many. '
  'Definer: readers write no keys.';
