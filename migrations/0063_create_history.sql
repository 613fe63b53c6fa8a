-- What changed in audited tables: one entry per changed row, written by the trigger of the table in the transaction of the
-- change (sql/history/note_change.sql). docs/adr/0041-what-changed-in-audited-tables.md has the reasons.

create table svc_private.history_tables (
  id integer generated always as identity primary key,
  name text not null,
  relation oid unique,
  declared_by text not null,
  keys text[] not null,
  omitted text[] not null
);

alter table svc_private.history_tables enable row level security;
revoke all on svc_private.history_tables from svc_system;
grant select on svc_private.history_tables to svc_system;

comment on table svc_private.history_tables is 'Tables with an audited() declaration, and those that had one.';
comment on column svc_private.history_tables.id is 'What entries and triggers name, so that a renamed table keeps its entries.';
comment on column svc_private.history_tables.name is 'Schema and name, quoted.';
comment on column svc_private.history_tables.relation is
  'The table; null when it is no longer audited. A table that is declared again, or made anew, gets another line.';
comment on column svc_private.history_tables.declared_by is 'application: whose list of tables it stands in.';
comment on column svc_private.history_tables.keys is 'The columns of the primary key.';
comment on column svc_private.history_tables.omitted is 'Columns whose values are not kept.';

-- A sequence of its own: identity columns of partitioned tables came with PostgreSQL 17.
create sequence svc_private.history_entries_id;
revoke all on sequence svc_private.history_entries_id from svc_system;

create table svc_private.history_entries (
  id bigint not null default nextval('svc_private.history_entries_id'),
  at timestamptz not null default clock_timestamp(),
  table_id integer not null,
  row_id text,
  begins boolean not null,
  operation text not null check (operation in ('insert', 'update', 'delete', 'truncate')),
  actor text,
  login text not null default session_user,
  via text,
  request text,
  trace text,
  changed jsonb not null,
  primary key (id, at)
) partition by range (at);

create index history_entries_row on svc_private.history_entries (table_id, row_id, id);

-- For entries of a month without a partition, so that no write fails when no worker has made one.
create table svc_private.history_default partition of svc_private.history_entries default;

alter table svc_private.history_entries enable row level security;
alter table svc_private.history_default enable row level security;
revoke all on svc_private.history_entries, svc_private.history_default from svc_system;
grant select on svc_private.history_entries to svc_system;

comment on table svc_private.history_entries is
  'Changes of rows of audited tables. No login may change or remove one; the sweep drops old months.';
comment on column svc_private.history_entries.table_id is 'svc_private.history_tables.id';
comment on column svc_private.history_entries.row_id is
  'The primary key as text; of several columns a JSON array. null: all rows, by TRUNCATE.';
comment on column svc_private.history_entries.begins is
  'Whether the row got this key here. Earlier entries are those of another row, and readers of this one do not get them.';
comment on column svc_private.history_entries.actor is 'The user of the transaction; null: nobody, the system or an administrator.';
comment on column svc_private.history_entries.login is 'The database login.';
comment on column svc_private.history_entries.via is 'The program, from application_name.';
comment on column svc_private.history_entries.request is 'The id of the request, or job: and the id of the job.';
comment on column svc_private.history_entries.trace is 'The W3C traceparent of a traced call.';
comment on column svc_private.history_entries.changed is
  'By column [before, after], as JSON; null where the column is omitted or a value is larger than 16 KiB.';
comment on table svc_private.history_default is 'Entries of months without a partition.';
