-- Conversions of stored files, so that the same bytes are not converted twice, and so that a run's checkpoint names the
-- result instead of holding it. sql/documents/ keeps and finds them; no request role reads them.

create table svc_private.document_conversions (
  id uuid primary key default gen_random_uuid(),
  owner_id text references auth."user" (id) on delete cascade,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  options text not null,
  result json not null,
  created_at timestamptz not null default now(),
  used_at timestamptz not null default now(),
  unique nulls not distinct (owner_id, sha256, options)
);

create index document_conversions_used_at on svc_private.document_conversions (used_at);

comment on table svc_private.document_conversions is
  'What conversions of stored files gave. Each owner has their own: whether somebody else has a file is nobody''s business.';
comment on column svc_private.document_conversions.owner_id is 'Whose run converted it; null: the system, or nobody signed in.';
comment on column svc_private.document_conversions.sha256 is 'Of the bytes that were converted, in hex.';
comment on column svc_private.document_conversions.options is 'What else decides the result (src/documents/conversion-cache.ts), hashed.';
comment on column svc_private.document_conversions.result is
  'As src/documents/types.ts describes it. json, not jsonb: text of documents may hold what jsonb refuses, and nobody queries it.';
comment on column svc_private.document_conversions.used_at is 'When it was last asked for; what nobody asks for is swept.';

-- The file that a document was ingested from, for those who open a citation. No foreign key: the text outlives the file,
-- and a key would tell whether a file of somebody else exists.
alter table svc.rag_sources add column storage_id uuid;

comment on column svc.rag_sources.storage_id is 'The stored file that it was converted from, if any; it may be gone.';
