-- The inverted index of keyword search, for all searchable tables. Written by the triggers that
-- svc_private.install_search() puts on them (svc_private.index_rows), read by svc.find_matches().
--
-- Everything hangs on a group: one corpus, one visibility and, where rows are private, one owner. Whoever may search a
-- group may read all of it, so document frequencies and average lengths, which end up in scores, tell nothing of rows
-- that the caller may not read. docs/adr/0008-ranking-in-plain-tables.md has the reasons and the alternatives.

create table svc_private.search_tables (
  id integer generated always as identity primary key,
  name text not null unique,
  relation oid not null,
  declared_by text not null,
  definition jsonb not null
);

comment on table svc_private.search_tables is 'Tables with a searchable() declaration.';
comment on column svc_private.search_tables.name is 'Schema and name, quoted.';
comment on column svc_private.search_tables.relation is 'The table when it was indexed: one that was made anew is indexed anew.';
comment on column svc_private.search_tables.declared_by is 'platform or application: whose list of tables it stands in.';
comment on column svc_private.search_tables.definition is '{table, id, fields, language, corpus, visibility, owner}: columns by name.';

create table svc_private.search_groups (
  id integer generated always as identity primary key,
  table_id integer not null references svc_private.search_tables (id) on delete cascade,
  corpus text not null,
  visibility text not null,
  owner_id text,
  unique nulls not distinct (table_id, corpus, visibility, owner_id)
);

comment on table svc_private.search_groups is 'What a search looks through: rows that the same callers may read.';
comment on column svc_private.search_groups.owner_id is 'Of private rows only; null where many owners share the group.';

create table svc_private.search_documents (
  id bigint generated always as identity primary key,
  group_id integer not null references svc_private.search_groups (id) on delete cascade,
  table_id integer not null,
  row_id text not null,
  lengths integer[] not null,
  unique (table_id, row_id)
);

create index search_documents_group on svc_private.search_documents (group_id);

comment on table svc_private.search_documents is 'Rows of searchable tables.';
comment on column svc_private.search_documents.row_id is 'The row''s primary key as text.';
comment on column svc_private.search_documents.lengths is 'Number of terms in each field, in the order of the definition.';

create table svc_private.search_postings (
  group_id integer not null,
  term text collate "C" not null,
  document_id bigint not null,
  frequencies integer[] not null,
  primary key (group_id, term, document_id) include (frequencies)
);

create index search_postings_document on svc_private.search_postings (document_id);

comment on table svc_private.search_postings is 'Which term stands in which document, and how often in each of its fields.';

-- No row is ever updated: writers add what they changed, so that two of them never wait for each other, and a reader
-- adds up what its snapshot shows. svc_private.index_rows() folds many rows into one now and then.
create table svc_private.search_counters (
  group_id integer not null,
  term text collate "C" not null,
  fields integer not null,
  documents bigint not null
);

create index search_counters_term on svc_private.search_counters (group_id, term) include (fields, documents);

comment on table svc_private.search_counters is 'In how many documents of a group a term stands: changes, to be added up.';
comment on column svc_private.search_counters.fields is
  'The fields in which it stands there, as bits: the count for any choice of fields is a sum over rows that share a bit.';

create table svc_private.search_totals (
  group_id integer not null,
  documents bigint not null,
  lengths bigint[] not null
);

create index search_totals_group on svc_private.search_totals (group_id);

comment on table svc_private.search_totals is 'Documents of a group, and terms in each field: changes, to be added up.';

alter table svc_private.search_tables enable row level security;
alter table svc_private.search_groups enable row level security;
alter table svc_private.search_documents enable row level security;
alter table svc_private.search_postings enable row level security;
alter table svc_private.search_counters enable row level security;
alter table svc_private.search_totals enable row level security;
