-- Creates a service account as the caller: the policies of the table decide, and its triggers make the user and the membership.
-- Called by src/organizations/service-accounts.ts. A function, because Drizzle names all columns in an insert, and callers
-- may set three of them.

create or replace function svc.create_service_account(org text, name text, role text)
returns text
language sql
volatile
set search_path = ''
as $$
  insert into svc.service_accounts (org_id, name, role)
  values (create_service_account.org, create_service_account.name, create_service_account.role)
  returning id
$$;

grant execute on function svc.create_service_account(text, text, text) to svc_authenticated;

comment on function svc.create_service_account(text, text, text) is
  'Creates a service account of an organization, as the caller; returns its id.';
