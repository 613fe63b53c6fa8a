-- Indexes all rows of a table that has just become searchable and that no other session writes to. Called by
-- svc_private.install_search() and svc_private.renew_search().
--
-- The counters of all parts that svc_private.index_source() makes are merged at the end.
--
-- Keys go through the index's list of pending entries, which sorts them by the thousand. Searches of other tables read
-- the list meanwhile, so it is kept short.

create or replace function svc_private.fill_search(target svc_private.search_tables)
returns void
language plpgsql
volatile
set search_path = ''
set datestyle = 'ISO'  -- as in svc_private.index_rows()
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set timezone = 'UTC'
set extra_float_digits = 1
set work_mem = '64MB'
set gin_pending_list_limit = '2MB'
as $$
declare
  rows refcursor;
begin
  open rows for execute format('select %s from %s as t', svc_private.search_columns(target.id), target.name);
  perform svc_private.index_source(target.id, rows, true);
  perform pg_catalog.gin_clean_pending_list('svc_private.search_documents_keys');

  insert into svc_private.search_counters (group_id, documents, key, term)
  select group_id, sum(documents), key, term from svc_private.search_filling group by 1, 3, 4 order by 1, 3;
  truncate svc_private.search_filling;
  perform svc_private.fold_counters(target.id,
    array(select g.id from svc_private.search_groups g where g.table_id = target.id), '{}');

  analyze svc_private.search_groups, svc_private.search_documents, svc_private.search_counters, svc_private.search_totals;
end
$$;

comment on function svc_private.fill_search(svc_private.search_tables) is 'Indexes the rows of a table that became searchable.';
