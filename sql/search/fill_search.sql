-- Indexes all rows of a table that has just become searchable and that no other session writes to. Called by
-- svc_private.install_search().
--
-- It works on some megabytes of the table at a time: in one step, the words of a million rows would go through
-- temporary files. The counters of all parts are merged at the end.
--
-- The keys go into the GIN index entry by entry. Its list of pending entries would take a third less time, but turning
-- the list on locks the index against the searches of all tables until the migration commits.

create or replace function svc_private.fill_search(target svc_private.search_tables)
returns void
language plpgsql
volatile
set search_path = ''
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
      || case when start + blocks <= final then format(' and t.ctid < %L', format('(%s,0)', start + blocks)) else '' end);
    execute statements[1];
    execute statements[2];
  end loop;

  with gone as (
    delete from svc_private.search_counters
     where group_id in (select g.id from svc_private.search_groups g where g.table_id = target.id)
    returning group_id, term, fields, class, documents
  )
  insert into svc_private.search_counters (group_id, term, fields, class, documents)
  select group_id, term, fields, class, sum(documents) from gone group by 1, 2, 3, 4;

  analyze svc_private.search_groups, svc_private.search_documents, svc_private.search_counters, svc_private.search_totals;
end
$$;

comment on function svc_private.fill_search(svc_private.search_tables) is 'Indexes the rows of a table that became searchable.';
