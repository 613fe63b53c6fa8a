-- Invites an address to an organization, as the caller: the policies of the table decide, and its triggers complete the row.
-- Called by src/organizations/create-organizations.ts. A function, because Drizzle names all columns in an insert, and
-- callers may set three of them.

create or replace function svc.invite_to_organization(org text, email text, role text)
returns uuid
language sql
volatile
set search_path = ''
as $$
  insert into svc.organization_invitations (org_id, email, role)
  values (invite_to_organization.org, invite_to_organization.email, invite_to_organization.role)
  returning id
$$;

grant execute on function svc.invite_to_organization(text, text, text) to svc_authenticated;

comment on function svc.invite_to_organization(text, text, text) is
  'Invites an address to an organization, as the caller; returns the id of the invitation.';
