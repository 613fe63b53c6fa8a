-- Uploads that are under way: files that arrive in parts, after disconnects too, and files for which somebody holds a
-- signed URL. A finished one is a row of svc.storage_objects with the same id, and gone from here.
-- What changes them: sql/storage/; who may reserve one: sql/policies/svc.storage_uploads.sql.

create table svc.storage_uploads (
  id uuid primary key,
  user_id text references auth."user" (id) on delete cascade,
  name text not null check (name <> '' and octet_length(name) <= 255),
  type text not null check (type <> '' and octet_length(type) <= 255),
  visibility text not null default 'private' check (visibility in ('private', 'public')),
  size bigint not null check (size >= 0),
  received bigint not null default 0 check (received between 0 and size),
  parts integer not null default 0,
  token_sha256 text check (token_sha256 ~ '^[0-9a-f]{64}$'),
  claimed_at timestamptz,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null
);

create index storage_uploads_user_id on svc.storage_uploads (user_id);
create index storage_uploads_expires_at on svc.storage_uploads (expires_at);

comment on table svc.storage_uploads is 'Files that have not arrived yet. A finished one moves to svc.storage_objects.';
comment on column svc.storage_uploads.id is 'Of the stored object, too, once it is one.';
comment on column svc.storage_uploads.user_id is 'Whose file it will be. Null: a URL that the system, or a call that nobody was signed in to, made.';
comment on column svc.storage_uploads.size is 'In bytes: what was announced; for a signed URL the most that it takes.';
comment on column svc.storage_uploads.received is 'In bytes: all before it lies in parts, safe.';
comment on column svc.storage_uploads.parts is 'How many there are.';
comment on column svc.storage_uploads.token_sha256 is 'Of the token in a signed URL, in hex. Null: an upload in parts.';
comment on column svc.storage_uploads.claimed_at is 'When somebody began to send to the signed URL.';
comment on column svc.storage_uploads.expires_at is 'Later it is swept; each part that arrives moves it on.';

create table svc.storage_upload_parts (
  upload_id uuid not null references svc.storage_uploads (id) on delete cascade,
  start bigint not null check (start >= 0),
  size bigint not null check (size > 0),
  name text not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  primary key (upload_id, start)
);

comment on table svc.storage_upload_parts is 'What has arrived of an upload: adjoining parts, from the first byte on.';
comment on column svc.storage_upload_parts.name is 'Names the bytes in the driver, behind the upload''s id.';
