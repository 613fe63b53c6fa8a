-- Merges the counter rows of terms, and the totals of groups, that have more than one row or cancel each other out. Called
-- by src/search/fold-search.ts, once a day.
--
-- The trigger (svc_private.index_rows) merges some of the terms that it adds, and none of those that it removes: without
-- this, the counters of rows that were deleted, such as those of a deleted user, would stay for good.
--
-- Some groups in each call, and each call is a transaction. Nobody waits for it (svc_private.fold_counters).

create or replace function svc_private.fold_search(after_group integer, most integer default 200)
returns integer  -- the last group that it looked at; null when there is none behind after_group
language plpgsql
volatile
set search_path = ''
set enable_seqscan = off  -- groups differ much in size, and the planner expects an average one
set jit = off
as $$
declare
  each record;
  looked_at constant integer[] := array(
    select g.id from svc_private.search_groups g where g.id > after_group order by g.id limit most);
begin
  for each in
    select g.table_id, array_agg(f.group_id) as group_ids, array_agg(f.key) as keys
      from (
        select c.group_id, c.key
          from svc_private.search_counters c
         where c.group_id = any (looked_at)
         group by 1, 2
        having count(*) > 1 or sum(c.documents) = 0
        union all
        select t.group_id, null
          from svc_private.search_totals t
         where t.group_id = any (looked_at)
         group by 1
        having count(*) > 1
      ) as f
      join svc_private.search_groups g on g.id = f.group_id
     group by 1
  loop
    perform svc_private.fold_counters(each.table_id, each.group_ids, each.keys);
  end loop;
  return looked_at[cardinality(looked_at)];
end
$$;

comment on function svc_private.fold_search(integer, integer) is
  'Merges counters of the search index; returns the last group that it looked at, null at the end.';
