-- The index of searches was ten times as large as a GIN index over the same words. A document keeps the keys of its
-- postings instead of terms, keys and frequencies. A key has more bits of the term's hash, so that it stands for one
-- term, and tells the frequency of most postings. The tables are made anew and empty: svc_private.renew_search() fills
-- them in the same transaction, from the searchable tables.

drop table svc_private.search_documents, svc_private.search_counters;
truncate svc_private.search_totals;

create table svc_private.search_documents (
  group_id integer not null,
  table_id integer not null,
  row_id text not null,
  lengths integer[] not null,
  keys bigint[] not null,
  others bigint[],
  unique (table_id, row_id)
);

alter table svc_private.search_documents
  -- A search reads the arrays of each candidate: they stay in its row, uncompressed, while that fits a page.
  alter column keys set storage main,
  alter column others set storage main,
  -- No plan depends on what is in them.
  alter column keys set statistics 0,
  alter column others set statistics 0,
  set (toast_tuple_target = 8160);

-- With the list of pending entries, which svc_private.index_rows() empties before a statement ends.
create index search_documents_keys on svc_private.search_documents using gin (keys);

alter table svc_private.search_documents enable row level security;

comment on table svc_private.search_documents is 'Rows of searchable tables.';
comment on column svc_private.search_documents.row_id is 'The row''s primary key as text.';
comment on column svc_private.search_documents.lengths is 'Number of terms in each field, in the order of the definition.';
comment on column svc_private.search_documents.keys is 'For each of its terms the svc_private.search_key(), in order.';
comment on column svc_private.search_documents.others is
  'Frequencies that a key does not tell: place in keys, field - 1 and frequency, as 28, 4 and 32 bits. Null: none.';

create table svc_private.search_counters (
  group_id integer not null,
  documents integer not null,
  key bigint not null,
  term text collate "C"
);

create index search_counters_key on svc_private.search_counters (group_id, key) include (documents);
create index search_counters_term on svc_private.search_counters (group_id, term) where term is not null;

alter table svc_private.search_counters enable row level security;

comment on table svc_private.search_counters is
  'How many documents of a group have a posting with a key: changes, to be added up. No row is updated.';
comment on column svc_private.search_counters.term is 'The term of the key; null where documents were removed.';

-- Only while svc_private.fill_search() runs, which empties it again. Two migrations never run at once.
create table svc_private.search_filling (like svc_private.search_counters);

alter table svc_private.search_filling enable row level security;

comment on table svc_private.search_filling is 'Counters of the parts of a table that is being indexed.';

-- Steps of a search take other parameters.
drop function if exists svc_private.search_key(integer, text, integer, integer);
drop function if exists svc_private.fold_counters(integer[], text[]);
drop function if exists svc_private.indexing_sql(integer, text);
drop function if exists svc_private.search_group(text, text[], text, text, text);
drop function if exists svc_private.find_best(svc_private.search_query, text, integer, integer);
drop function if exists svc_private.scoring_sql(integer[], double precision, double precision, double precision, integer);
drop function if exists svc_private.read_query(
  integer, text, text[], regconfig, integer[], boolean, double precision, double precision, double precision, double precision, integer);
drop function if exists svc_private.search_endings(integer, text, integer);
drop function if exists svc_private.search_endings_among(integer, text, text[], integer);
drop type svc_private.search_query;

create type svc_private.search_query as (
  table_id integer,
  group_id integer,
  places integer[],
  bits integer,
  width integer,
  documents double precision,
  average double precision,
  k1 double precision,
  b double precision,
  terms text[],
  weights double precision[],
  lows bigint[],
  highs bigint[],
  term_of integer[],
  tops double precision[],
  addends double precision[],
  keys bigint[],
  counts bigint[]
);

comment on type svc_private.search_query is
  'What a keyword search covers, its query, and what the index says of its terms.';
