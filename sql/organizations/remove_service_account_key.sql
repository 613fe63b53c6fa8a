-- Revokes an API key of a service account. Called by src/organizations/service-accounts.ts. A reader owns it: the key is found
-- for those who see its account in svc.service_accounts. The trigger of auth.api_key ends cached keys and sockets.

create or replace function svc.remove_service_account_key(account text, key text)
returns boolean
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform from svc.service_accounts s where s.id = account;
  return found and svc_private.delete_service_account_key(account, key);
end
$$;

call svc_private.run_as_reader('svc.remove_service_account_key(text, text)', 'svc_reader_authenticated');

comment on function svc.remove_service_account_key(text, text) is
  'Revokes an API key of a service account that the caller manages; false if there is none. '
  'Definer: a reader owns it, so that the policies of svc.service_accounts decide.';
