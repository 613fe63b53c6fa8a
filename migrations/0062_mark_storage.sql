-- The stored files carry a mark of the database that sweeps them: src/storage/claim.ts. Without it a second database with the
-- same folder or bucket, such as that of a developer, removed all files, since none of them has a row there.
create table svc_private.storage_mark (
  database uuid not null default gen_random_uuid(),
  sweeps bigint not null default 0
);
create unique index storage_mark_one_row on svc_private.storage_mark ((true));
alter table svc_private.storage_mark enable row level security;
insert into svc_private.storage_mark default values;

comment on table svc_private.storage_mark is 'One row: what the mark beside the stored files has to say for this database to sweep them.';
comment on column svc_private.storage_mark.database is 'Names this database and its copies, until one of them adopts the files.';
comment on column svc_private.storage_mark.sweeps is
  'Counted before each sweep. The mark of a later sweep says that this database is an earlier state or a copy.';
