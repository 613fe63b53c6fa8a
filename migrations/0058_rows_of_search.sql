-- Rows went into the search index by a statement that was made as text for each write: PostgreSQL planned it each time, which
-- took longer than a short text's indexing. The statement is in svc_private.index_texts() now, and its plan is kept.

create type svc_private.search_row as (
  row_id text,       -- the primary key
  corpus text,
  visibility text,
  owner_id text,
  texts text[]       -- of the fields, in the order of the definition
);

comment on type svc_private.search_row is 'A row of a searchable table, as svc_private.search_columns() selects it.';

drop function if exists svc_private.indexing_sql(integer, text, text);
