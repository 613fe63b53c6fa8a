-- What has been applied to this database. Written by src/migrate/migrate.ts, read by `svc migrate status`.

create table svc_private.applied_migrations (
  scope text not null check (scope in ('platform', 'application')),
  name text not null,
  checksum text not null,
  applied_at timestamptz not null default now(),
  primary key (scope, name)
);

comment on table svc_private.applied_migrations is
  'Migrations that ran, once each. A file whose checksum differs from this record was edited afterwards: an error.';

create table svc_private.applied_sql (
  scope text not null check (scope in ('platform', 'application')),
  path text not null,
  checksum text not null,
  applied_at timestamptz not null default now(),
  primary key (scope, path)
);

comment on table svc_private.applied_sql is
  'Files of sql/ with the text that was applied last. A different text is applied again.';

-- For the administrator and the migrator alone, so no policy admits anybody.
alter table svc_private.applied_migrations enable row level security;
alter table svc_private.applied_sql enable row level security;
