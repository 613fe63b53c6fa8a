-- Service accounts of organizations: users that are programs. sql/policies/svc.service_accounts.sql says who manages them, and
-- sql/organizations/is_service.sql how their ids look.

create table svc.service_accounts (
  id text primary key references auth."user" (id) on delete cascade,
  org_id text not null references svc.organizations (id) on delete cascade,
  name text not null check (length(name) between 1 and 200 and name = btrim(name)),
  role text,
  created_by text,
  created_at timestamptz not null default now()
);

create index service_accounts_org on svc.service_accounts (org_id, created_at desc, id desc);

alter table svc.service_accounts enable row level security;

comment on table svc.service_accounts is
  'Members of organizations that are programs. They have API keys, and no way to sign in.';
comment on column svc.service_accounts.id is 'The id of its user, which a trigger makes.';
comment on column svc.service_accounts.name is 'Equal to the name of its user.';
comment on column svc.service_accounts.role is
  'A copy of the role of its membership. Null: the account was removed, and its row says who made earlier changes.';
comment on column svc.service_accounts.created_by is
  'Who created it. Not a foreign key: it outlives its creator.';

alter table auth.api_key add column created_by text;

comment on column auth.api_key.created_by is
  'Of a key of a service account: the person who got it. Null: the user of the key.';
