-- Puts rows into the inverted index. Called by svc_private.index_source(), which adds the counters.
--
-- All rows are indexed at once: a word that occurs in a thousand of them is stemmed once. Rows without a scope are left
-- out, because no search can name them.
--
-- Most keys tell the frequency of their term: it stands in one field, one to four times. The others come beside.

create or replace function svc_private.index_texts(
  target integer,
  source svc_private.search_row[],
  out group_ids integer[],   -- what svc_private.search_counters gets, a place for each of its rows
  out documents integer[],
  out keys bigint[],
  out terms text[]
)
language plpgsql
volatile
set search_path = ''
set jit = off
set work_mem = '64MB'
set enable_mergejoin = off  -- the planner does not know how many rows there are, and how many words they have
set enable_nestloop = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  definition constant jsonb := (select t.definition from svc_private.search_tables t where t.id = target);
  language constant regconfig := definition ->> 'language';
  width constant integer := jsonb_array_length(definition -> 'fields');
begin
  -- Groups first, because a statement sees the inserts of earlier statements. In order, so that two writers do not deadlock.
  insert into svc_private.search_groups (table_id, corpus, visibility, owner_id)
  select distinct target, s.corpus, s.visibility, case when s.visibility = 'private' then s.owner_id end
    from unnest(source) as s
   where s.corpus is not null and (s.visibility in ('shared', 'public') or s.visibility = 'private' and s.owner_id is not null)
     and svc_private.search_group_id(target, s.corpus, s.visibility, s.owner_id) is null
   order by 2, 3, 4
  on conflict do nothing;
  -- Above READ COMMITTED a group is also found that svc_private.drop_search_groups() has removed since: locking it fails.
  if current_setting('transaction_isolation') <> 'read committed' then
    perform from svc_private.search_groups g
      where g.id = any (array(
        select svc_private.search_group_id(target, s.corpus, s.visibility, s.owner_id) from unnest(source) as s))
        for key share;
  end if;

  with document as materialized (
    -- Rows without a scope have no group.
    select row_number() over () as id, s.group_id, s.row_id, s.texts
      from (
        select svc_private.search_group_id(target, r.corpus, r.visibility, r.owner_id) as group_id, r.row_id, r.texts
          from unnest(source) as r offset 0
      ) as s
     where s.group_id is not null
  ), word as materialized (
    select d.id, f.field::integer as field, w.word
      from document d
     cross join lateral unnest(d.texts) with ordinality as f (content, field)
     cross join lateral svc_private.search_words(f.content) as w (word)
  ), term as materialized (
    select w.word, t.term
      from (select distinct word from word) as w
     cross join lateral unnest(array(select t.term from svc_private.search_terms(w.word, language) as t (term))) as t (term)
  ), posting as materialized (
    select w.id, w.field, t.term collate "C" as term, count(*)::integer as n
      from word w join term t using (word)
     group by 1, 2, 3
  ), length as materialized (
    select d.id, d.group_id, d.row_id, sum(l.n)::integer as length, array_agg(coalesce(l.n, 0) order by f.field) as lengths
      from document d
     cross join generate_series(1, width) as f (field)
      left join (select p.id, p.field, sum(p.n)::integer as n from posting p group by 1, 2) as l using (id, field)
     group by 1, 2, 3
  ), entry as materialized (
    select e.id, l.group_id, e.term, e.fields,
           svc_private.search_key(l.group_id, e.term, e.fields, svc_private.search_class(e.n, l.length), width) as key
      from (select p.id, p.term, bit_or(1 << (p.field - 1)) as fields, sum(p.n)::integer as n from posting p group by 1, 2) as e
      join length l using (id)
  ), arrays as materialized (
    select e.id, array_agg(e.key order by e.key) as keys from entry e group by 1
  ), other as (
    select e.id, array_agg((width_bucket(e.key, a.keys)::bigint << 36) | ((p.field - 1)::bigint << 32) | p.n order by e.key, p.field) as others
      from entry e
      join arrays a using (id)
      join posting p using (id, term)
     where e.key & 128 <> 0 or e.fields & (e.fields - 1) <> 0
     group by 1
  ), added as (
    insert into svc_private.search_documents (group_id, table_id, row_id, lengths, keys, others)
    select l.group_id, target, l.row_id, l.lengths, coalesce(a.keys, '{}'), o.others
      from length l left join arrays a using (id) left join other o using (id)
    returning group_id, lengths
  ), totals as (
    insert into svc_private.search_totals (group_id, documents, lengths)
    select s.group_id, max(s.documents), array_agg(s.n order by s.field)
      from (
        select a.group_id, u.field, count(*) as documents, sum(u.n) as n
          from added a cross join lateral unnest(a.lengths) with ordinality as u (n, field)
         group by 1, 2
      ) as s
     group by 1
  )
  select array_agg(c.group_id), array_agg(c.documents), array_agg(c.key), array_agg(c.term)
    into index_texts.group_ids, index_texts.documents, index_texts.keys, index_texts.terms
    from (select e.group_id, count(*)::integer as documents, e.key, e.term from entry e group by 1, 3, 4) as c;
end
$$;

comment on function svc_private.index_texts(integer, svc_private.search_row[]) is
  'Puts rows of a searchable table into its inverted index, and returns the counters to add.';
