-- Organizations: who belongs to one, in which role, and who is invited. Policies of applications ask svc.my_orgs()
-- (sql/organizations/my_orgs.sql). Who may read and write: sql/policies/svc.organization*.sql.

create table svc.organizations (
  id text primary key default gen_random_uuid()::text,
  name text not null check (length(name) between 1 and 200 and name = btrim(name)),
  created_at timestamptz not null default now()
);

alter table svc.organizations enable row level security;

comment on table svc.organizations is
  'Organizations. Further columns belong into a table of the application that refers to this one.';
comment on column svc.organizations.id is 'Text, so that organizations can keep the ids of an earlier system.';

create table svc.organization_members (
  id uuid primary key default gen_random_uuid(),
  org_id text not null references svc.organizations (id) on delete cascade,
  user_id text not null references auth."user" (id) on delete cascade,
  role text not null check (role ~ '^[a-z][a-z0-9_-]{0,30}$'),
  name text not null,
  email text not null,
  created_at timestamptz not null default now(),
  unique (user_id, org_id)
);

create index organization_members_org on svc.organization_members (org_id, created_at desc, id desc);

alter table svc.organization_members enable row level security;

comment on table svc.organization_members is 'Who belongs to which organization: the one source of the rights of its members.';
comment on column svc.organization_members.role is
  'The database knows owner and admin. Other names are the application''s, declared in its auth.ts.';
comment on column svc.organization_members.name is
  'A copy of the user''s name, for colleagues: they cannot read auth."user".';
comment on column svc.organization_members.email is 'A copy of the user''s address, as name.';

create table svc.organization_invitations (
  id uuid primary key default gen_random_uuid(),
  org_id text not null references svc.organizations (id) on delete cascade,
  org_name text not null,
  email text not null check (email = lower(email) and email like '%_@_%' and length(email) <= 254),
  role text not null check (role ~ '^[a-z][a-z0-9_-]{0,30}$'),
  invited_by text not null references auth."user" (id) on delete cascade,
  state text not null default 'pending' check (state in ('pending', 'accepted', 'rejected', 'canceled', 'expired')),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null default now() + interval '7 days'
);

-- An address is invited once to an organization, also by two admins at the same moment.
create unique index organization_invitations_pending on svc.organization_invitations (org_id, email) where state = 'pending';
create index organization_invitations_newest on svc.organization_invitations (org_id, created_at desc, id desc);
create index organization_invitations_email on svc.organization_invitations (email, created_at);
create index organization_invitations_inviter on svc.organization_invitations (invited_by, created_at);

alter table svc.organization_invitations enable row level security;

comment on table svc.organization_invitations is
  'Invitations to organizations by address. Rows that are no longer pending stay for 30 days: limits count them.';
comment on column svc.organization_invitations.org_name is
  'The organization''s name at that time: the invited person cannot read the organization.';
comment on column svc.organization_invitations.state is
  'An invitation that has expired reads pending until the address is invited again; expires_at decides.';
