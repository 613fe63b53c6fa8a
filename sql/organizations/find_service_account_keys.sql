-- The API keys of a user, for svc.service_account_keys(), which asks the policies.

create or replace function svc_private.find_service_account_keys(account text)
returns table (
  id text, name text, start text, scopes text[], created_by text, created_at timestamptz, expires_at timestamptz,
  last_used_at timestamptz
)
language sql
stable
security definer
set search_path = ''
as $$
  select k.id, k.name, k.start, k.scopes, k.created_by, k.created_at, k.expires_at, k.last_used_at
    from auth.api_key k
   where k.user_id = account
   order by k.created_at desc, k.id
$$;

grant execute on function svc_private.find_service_account_keys(text) to svc_reader_authenticated;

comment on function svc_private.find_service_account_keys(text) is
  'The API keys of a user without their hashes. Definer: readers do not read the schema auth.';
