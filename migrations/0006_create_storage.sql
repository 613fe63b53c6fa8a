-- Stored files: what is known of each. The bytes lie in the driver (a folder, or a bucket) under the row's id.
-- Who may see and change a row: sql/policies/svc.storage_objects.sql. What serves them: sql/storage/.

create table svc.storage_objects (
  id uuid primary key,
  user_id text references auth."user" (id) on delete cascade,
  name text not null check (name <> '' and octet_length(name) <= 255),
  size bigint not null check (size >= 0),
  type text not null check (type <> '' and octet_length(type) <= 255),
  visibility text not null default 'private' check (visibility in ('private', 'public')),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  created_at timestamptz not null default now()
);

create index storage_objects_user_id_created_at_id on svc.storage_objects (user_id, created_at desc, id desc);

comment on table svc.storage_objects is
  'Stored files. A row is written when its bytes are safe; bytes without a row are swept (src/storage/sweep.ts).';
comment on column svc.storage_objects.id is 'Names the bytes in the driver, too; chosen before they are written.';
comment on column svc.storage_objects.user_id is
  'The owner. Null: stored by the system, or by a call that nobody was signed in to.';
comment on column svc.storage_objects.name is 'What the uploader called it, cleaned. Never part of a path.';
comment on column svc.storage_objects.size is 'In bytes.';
comment on column svc.storage_objects.type is 'The media type that the uploader stated; nothing here trusts it.';
comment on column svc.storage_objects.sha256 is 'Of the bytes, in hex: the ETag, and what svc storage verify compares.';
