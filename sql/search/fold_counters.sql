-- Merges the counter rows of some terms, and the totals of their groups, into one row each. Called by
-- svc_private.index_source() for about one term in thirty that it adds, so that no term has many rows for long, by
-- svc_private.fill_search() for the totals alone, and by svc_private.fold_search() for all of them, once a day.
--
-- Rows that another transaction is merging are skipped, and nobody waits. Above READ COMMITTED, a row that was deleted
-- meanwhile would be an error: there nothing is merged.

create or replace function svc_private.fold_counters(target integer, group_ids integer[], keys bigint[])
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  -- The bits of a key that are no hash.
  rest constant bigint := (1 << (8 + (select jsonb_array_length(t.definition -> 'fields') from svc_private.search_tables t where t.id = target))) - 1;
begin
  if group_ids is null or current_setting('transaction_isolation') <> 'read committed' then
    return;
  end if;

  with gone as (
    delete from svc_private.search_counters
     where ctid = any (array(
       select c.ctid
         from (select distinct u.group_id, u.key & ~rest as low from unnest(group_ids, keys) as u (group_id, key)) as t
        cross join lateral (
          select c.ctid from svc_private.search_counters c
           where c.group_id = t.group_id and c.key between t.low and t.low | rest
             for update skip locked
        ) as c
     ))
    returning group_id, documents, key, term
  )
  insert into svc_private.search_counters (group_id, documents, key, term)
  select group_id, sum(documents), key, max(term) from gone group by 1, 3 having sum(documents) <> 0;

  with gone as (
    delete from svc_private.search_totals
     where ctid = any (array(
       select t.ctid from svc_private.search_totals t where t.group_id = any (group_ids) for update skip locked
     ))
    returning group_id, documents, lengths
  )
  insert into svc_private.search_totals (group_id, documents, lengths)
  select n.group_id, n.documents, l.lengths
    from (select group_id, sum(documents) as documents from gone group by 1) as n
    join (
      select group_id, array_agg(n order by field) as lengths
        from (
          select g.group_id, u.field, sum(u.n)::bigint as n
            from gone g cross join lateral unnest(g.lengths) with ordinality as u (n, field)
           group by 1, 2
        ) as field
       group by 1
    ) as l using (group_id);
end
$$;

comment on function svc_private.fold_counters(integer, integer[], bigint[]) is
  'Merges the counters of terms that have many counter rows.';
