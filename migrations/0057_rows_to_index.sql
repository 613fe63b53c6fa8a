-- An import writes each row by a statement of its own, and each statement indexed its row by itself. That cost twenty times
-- the row: 1,000 rows of a searchable table took longer than a statement may. Now they wait here for one statement.
-- Nothing here outlives its transaction.

create table svc_private.search_waiting (
  table_id integer not null,
  row_id text not null
);
alter table svc_private.search_waiting enable row level security;

comment on table svc_private.search_waiting is
  'Rows that the current transaction wrote and svc_hidden.index_waiting_rows() will index.';
