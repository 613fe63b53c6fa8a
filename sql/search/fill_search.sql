-- Indexes all rows of a table that has just become searchable and that no other session writes to. Called by
-- svc_private.install_search() and svc_private.renew_search().
--
-- It works on some megabytes of the table at a time: in one step, the words of a million rows would go through
-- temporary files. The counters of all parts are merged at the end.
--
-- Keys go through the index's list of pending entries, which sorts them by the thousand. Searches of other tables read
-- the list meanwhile, so it is kept short.

create or replace function svc_private.fill_search(target svc_private.search_tables)
returns void
language plpgsql
volatile
set search_path = ''
set jit = off
set work_mem = '64MB'
set gin_pending_list_limit = '2MB'
set enable_mergejoin = off  -- the planner does not know how many words a text has
as $$
declare
  blocks constant integer := 500;  -- of 8 kB; what is stored beside the rows is not counted
  source constant text := format('select %s from %s as t', svc_private.search_columns(target.id), target.name);
  final constant bigint := pg_catalog.pg_relation_size(target.relation) / current_setting('block_size')::integer;
  statements text[];
begin
  for start in 0 .. final by blocks loop
    -- The last part has no upper bound: partitions may be larger than the table itself.
    statements := svc_private.indexing_sql(target.id, format('%s where t.ctid >= %L', source, format('(%s,0)', start))
      || case when start + blocks <= final then format(' and t.ctid < %L', format('(%s,0)', start + blocks)) else '' end,
      'search_filling');
    execute statements[1];
    execute statements[2];
  end loop;
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
