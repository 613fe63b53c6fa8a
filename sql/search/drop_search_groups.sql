-- Removes groups without documents, such as those of deleted users. Called by src/search/fold-search.ts, once a day.
--
-- A writer looks its group up before it adds documents (svc_private.index_texts). The lock waits until no writer is under way,
-- and only for a moment, because other writers wait behind it. If it is not to be had, the next day's call removes the groups.

create or replace function svc_private.drop_search_groups(most integer default 1000)
returns integer  -- how many it removed
language plpgsql
volatile
set search_path = ''
set lock_timeout = '50ms'
set jit = off
as $$
declare
  unused constant integer[] := array(
    select g.id from svc_private.search_groups g
      left join svc_private.search_totals t on t.group_id = g.id
     group by g.id
    having coalesce(sum(t.documents), 0) = 0
     limit most);
  removed integer;
begin
  -- Above READ COMMITTED the documents of writers that have committed since would not be visible.
  if unused = '{}' or current_setting('transaction_isolation') <> 'read committed' then
    return 0;
  end if;
  lock table svc_private.search_groups in share row exclusive mode;
  with gone as (
    delete from svc_private.search_groups g
     where g.id = any (unused)
       and (select coalesce(sum(t.documents), 0) from svc_private.search_totals t where t.group_id = g.id) = 0
    returning g.id
  ), counters as (
    delete from svc_private.search_counters c where c.group_id = any (array(select id from gone))
  ), totals as (
    delete from svc_private.search_totals t where t.group_id = any (array(select id from gone))
  )
  select count(*) into removed from gone;
  return removed;
exception when lock_not_available then
  return 0;
end
$$;

comment on function svc_private.drop_search_groups(integer) is
  'Removes groups of the search index that have no documents; returns how many.';
