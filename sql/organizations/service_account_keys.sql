-- The API keys of a service account without their hashes, the newest first. Called by src/organizations/service-accounts.ts.
-- A reader owns it: keys are shown to those who see the account in svc.service_accounts.

create or replace function svc.service_account_keys(account text)
returns table (
  id text, name text, start text, scopes text[], created_by text, created_at timestamptz, expires_at timestamptz,
  last_used_at timestamptz
)
language sql
stable
security definer
set search_path = ''
as $$
  select k.*
    from svc.service_accounts s, svc_private.find_service_account_keys(s.id) k
   where s.id = service_account_keys.account
$$;

call svc_private.run_as_reader('svc.service_account_keys(text)', 'svc_reader_authenticated');

comment on function svc.service_account_keys(text) is
  'The API keys of a service account that the caller manages, also expired ones, the newest first. '
  'Definer: a reader owns it, so that the policies of svc.service_accounts decide.';
