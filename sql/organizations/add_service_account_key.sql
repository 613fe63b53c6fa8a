-- Adds an API key for a service account of an organization. Called by src/organizations/service-accounts.ts as the caller.
--
-- A reader owns svc.add_service_account_key(), so the policies of svc.service_accounts decide whether the caller manages the
-- account. The lock lets a removal at the same moment either come first, or see the key and revoke it.

create or replace function svc.add_service_account_key(
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
language plpgsql
volatile
security definer
set search_path = ''
as $$
begin
  perform from svc.service_accounts s where s.id = account and s.role is not null for share;
  if found then
    return query
    select k.*
      from svc_private.insert_service_account_key(session_id, account, name, start, hash, scopes, lifetime, most) k;
  end if;
end
$$;

call svc_private.run_as_reader(
  'svc.add_service_account_key(text, text, text, text, bytea, text[], interval, integer)', 'svc_reader_authenticated');

comment on function svc.add_service_account_key(text, text, text, text, bytea, text[], interval, integer) is
  'Adds an API key for a service account that the caller manages; no row if there is none. '
  'Definer: a reader owns it, so that the policies of svc.service_accounts decide.';
