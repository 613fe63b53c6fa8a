-- Revokes an API key of a user, for svc.remove_service_account_key(), which asks the policies.

create or replace function svc_private.delete_service_account_key(account text, key text)
returns boolean
language sql
volatile
security definer
set search_path = ''
as $$
  with removed as (
    delete from auth.api_key k where k.id = key and k.user_id = account returning 1
  )
  select exists (select from removed)
$$;

grant execute on function svc_private.delete_service_account_key(text, text) to svc_reader_authenticated;

comment on function svc_private.delete_service_account_key(text, text) is
  'Revokes an API key of a user; false if there is none. Definer: readers do not write keys.';
