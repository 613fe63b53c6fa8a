-- What answers are grounded on: sources, the sections of their headings, and chunks of a few sentences each.
-- svc.ingest_source() writes, svc.find_evidence() reads; who may do what: sql/policies/svc.rag_*.sql.
--
-- Sections and chunks repeat the scope of their source, so that a policy and a search look at one row and join nothing.
-- The foreign keys hold the repeated columns equal; the owner, who may be null, is held by the policies.

create table svc.rag_sources (
  id uuid primary key default gen_random_uuid(),
  corpus text not null check (corpus <> ''),
  visibility text not null check (visibility in ('private', 'shared', 'public')),
  owner_id text references auth."user" (id) on delete cascade,
  key text not null,
  title text not null,
  uri text,
  language regconfig not null default 'english',
  checksum text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  check (visibility <> 'private' or owner_id is not null),
  unique nulls not distinct (corpus, visibility, owner_id, key),
  unique (id, corpus, visibility)
);

create index rag_sources_owner on svc.rag_sources (owner_id);

comment on table svc.rag_sources is 'Documents that answers may be grounded on.';
comment on column svc.rag_sources.corpus is 'Which collection it belongs to; every search names one.';
comment on column svc.rag_sources.visibility is 'private: its owner reads it. shared: any signed-in user. public: anyone.';
comment on column svc.rag_sources.owner_id is 'Who ingested it, and alone may change it; null: the platform itself.';
comment on column svc.rag_sources.key is 'What makes it the same document when it comes again: its URI, or else its checksum.';
comment on column svc.rag_sources.checksum is 'SHA-256 of title and text: the same again changes nothing.';
comment on column svc.rag_sources.language is 'Text search configuration that stems its words.';

create table svc.rag_sections (
  id uuid primary key default gen_random_uuid(),
  source_id uuid not null,
  corpus text not null,
  visibility text not null,
  owner_id text,
  position integer not null,
  level integer not null,
  title text not null,
  path text[] not null,
  foreign key (source_id, corpus, visibility)
    references svc.rag_sources (id, corpus, visibility) on delete cascade,
  unique (source_id, position)
);

comment on table svc.rag_sections is 'What stands under one heading of a source, without the headings below it.';
comment on column svc.rag_sections.level is 'Of the heading, 1 to 6; 0: what comes before the first one.';
comment on column svc.rag_sections.path is 'Titles of the headings from the top down to this one.';

create table svc.rag_chunks (
  id uuid primary key default gen_random_uuid(),
  section_id uuid not null references svc.rag_sections (id) on delete cascade,
  source_id uuid not null,
  corpus text not null,
  visibility text not null,
  owner_id text,
  position integer not null,
  text text not null,
  sentence_starts integer[] not null,
  start_offset integer not null,
  end_offset integer not null,
  page_start integer not null,
  page_end integer not null,
  words tsvector not null,
  foreign key (source_id, corpus, visibility)
    references svc.rag_sources (id, corpus, visibility) on delete cascade,
  unique (source_id, position)
);

create index rag_chunks_words on svc.rag_chunks using gin (words);
create index rag_chunks_scope on svc.rag_chunks (corpus, visibility, owner_id);
create index rag_chunks_section on svc.rag_chunks (section_id);

comment on table svc.rag_chunks is 'A few sentences of one section: what is searched, weighed and cited.';
comment on column svc.rag_chunks.sentence_starts is 'Where each sentence begins in text, in characters from 1.';
comment on column svc.rag_chunks.start_offset is 'Where it begins in the ingested document, in characters from 0.';
comment on column svc.rag_chunks.end_offset is 'Where it ends in the ingested document, exclusive.';
comment on column svc.rag_chunks.page_start is 'Page of its beginning, from 1; form feeds part the pages of a document.';
comment on column svc.rag_chunks.words is 'Its words and those of its headings, stemmed in the language of the source.';
