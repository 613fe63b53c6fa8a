-- Indexes the rows of searchable tables that the transaction wrote while svc.defers_indexing was on, by one statement for
-- each table. Called by svc_hidden.index_waiting_rows().
--
-- Each row is indexed in its present state, however often the transaction changed it. Waiting rows of other transactions are
-- not visible here: they are gone when those commit.

create or replace function svc_private.index_rows_together()
returns void
language plpgsql
volatile
set search_path = ''
set datestyle = 'ISO'  -- the index has keys and fields as text, in one form, whatever the session shows
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set timezone = 'UTC'
set extra_float_digits = 1
set gin_pending_list_limit = '256kB'
as $$
declare
  each record;
  rows refcursor;
begin
  for each in
    with gone as (delete from svc_private.search_waiting returning table_id, row_id),
         waiting as (select g.table_id, array_agg(distinct g.row_id) as row_ids from gone g group by 1)
    select t.id, t.name, t.definition ->> 'id' as key, a.atttypid as type, w.row_ids
      from waiting w
      join svc_private.search_tables t on t.id = w.table_id
      -- By name: after pg_restore the table has another number than t.relation.
      join pg_catalog.pg_attribute a on a.attrelid = t.name::regclass and a.attname = t.definition ->> 'id'
     order by 1
  loop
    perform svc_private.remove_documents(each.id, each.row_ids);
    -- -1, because null would be char(1) for char(n).
    open rows for execute format('select %s from %s as t where t.%I %s any ($1::%s[])', svc_private.search_columns(each.id),
      each.name, each.key, svc_private.equality(each.type), format_type(each.type, -1)) using each.row_ids;
    perform svc_private.index_source(each.id, rows);
    rows := null;
  end loop;
  if found then
    -- A search reads the whole list of pending entries: it is emptied at once.
    perform pg_catalog.gin_clean_pending_list('svc_private.search_documents_keys');
  end if;
end
$$;

comment on function svc_private.index_rows_together() is
  'Puts the rows that an import has written into the inverted index, all at once. '
  'lint:allow executed_text: only names of columns and tables that svc migrate recorded, no value of a row.';
