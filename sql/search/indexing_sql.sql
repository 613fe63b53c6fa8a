-- Returns the two statements that put rows into the inverted index, as text. Executed by the triggers
-- (svc_private.index_rows) and when a table becomes searchable (svc_private.install_search). They are text because only
-- the trigger function itself sees the rows of its statement; functions that it calls do not.
--
-- `source` is SQL that selects (row_id, corpus, visibility, owner_id, texts), and only those two callers write it. All
-- rows are indexed at once: a word that occurs in a thousand of them is stemmed once. Rows without a scope are left
-- out, because no search can name them.
--
-- Most keys tell the frequency of their term: it stands in one field, one to four times. The others come beside.

create or replace function svc_private.indexing_sql(target integer, source text, counters text default 'search_counters')
returns text[]  -- the second gives a sample of what it touched, for svc_private.fold_counters()
language plpgsql
stable
set search_path = ''
as $$
declare
  definition constant jsonb := (select t.definition from svc_private.search_tables t where t.id = target);
  fields constant integer := jsonb_array_length(definition -> 'fields');
  scoped constant text := format($sql$
    select s.row_id, s.corpus, s.visibility, case when s.visibility = 'private' then s.owner_id end as owner_id, s.texts
      from (%s) as s
     where s.corpus is not null and (s.visibility in ('shared', 'public') or s.visibility = 'private' and s.owner_id is not null)
  $sql$, source);
begin
  -- Groups first, because a statement sees the inserts of earlier statements. In order, so that two writers do not deadlock.
  return array[format($sql$
    insert into svc_private.search_groups (table_id, corpus, visibility, owner_id)
    select distinct %s, s.corpus, s.visibility, s.owner_id from (%s) as s
     where not exists (
       select from svc_private.search_groups g
        where g.table_id = %1$s and g.corpus = s.corpus and g.visibility = s.visibility
          and g.owner_id is not distinct from s.owner_id
     )
     order by 2, 3, 4
    on conflict do nothing
  $sql$, target, scoped), format($sql$
    with document as materialized (
      select row_number() over () as id, g.id as group_id, s.row_id, s.texts
        from (%2$s) as s
        join svc_private.search_groups g
          on g.table_id = %1$s and g.corpus = s.corpus and g.visibility = s.visibility
         and g.owner_id is not distinct from s.owner_id
    ), word as materialized (
      select d.id, f.field::integer as field, w.word
        from document d
       cross join lateral unnest(d.texts) with ordinality as f (content, field)
       cross join lateral svc_private.search_words(f.content) as w (word)
    ), term as materialized (
      select w.word, t.term
        from (select distinct word from word) as w
       cross join lateral svc_private.search_terms(w.word, %3$L::regconfig) as t (term)
    ), posting as materialized (
      select w.id, t.term collate "C" as term, %4$s as frequencies, count(*)::integer as frequency,
             bit_or(1 << (w.field - 1)) as fields
        from word w join term t using (word)
       group by 1, 2
    ), length as materialized (
      select p.id, %5$s as lengths, sum(p.frequency)::integer as length from posting p group by 1
    ), entry as materialized (
      select d.id, d.group_id, p.term, p.frequencies, p.fields,
             svc_private.search_key(d.group_id, p.term, p.fields, svc_private.search_class(p.frequency, l.length), %6$s) as key
        from posting p join document d using (id) join length l using (id)
    ), arrays as materialized (
      select e.id, array_agg(e.key order by e.key) as keys from entry e group by 1
    ), other as (
      select e.id, array_agg((width_bucket(e.key, a.keys)::bigint << 36) | ((u.field - 1) << 32) | u.n order by e.key, u.field) as others
        from entry e join arrays a using (id)
       cross join lateral unnest(e.frequencies) with ordinality as u (n, field)
       where (e.key & 128 <> 0 or e.fields & (e.fields - 1) <> 0) and u.n > 0
       group by 1
    ), added as (
      insert into svc_private.search_documents (group_id, table_id, row_id, lengths, keys, others)
      select d.group_id, %1$s, d.row_id, coalesce(l.lengths, array_fill(0, array[%6$s])), coalesce(a.keys, '{}'), o.others
        from document d left join length l using (id) left join arrays a using (id) left join other o using (id)
      returning group_id, lengths
    ), counters as (
      insert into svc_private.%8$I (group_id, documents, key, term)
      select group_id, count(*), key, term from entry group by 1, 3, 4
      returning group_id, key
    ), totals as (
      insert into svc_private.search_totals (group_id, documents, lengths)
      select group_id, count(*), %7$s from added group by 1
    )
    select array_agg(c.group_id), array_agg(c.key) from counters c where random() < 0.03
  $sql$,
    target, scoped, definition ->> 'language',
    (select format('array[%s]', string_agg(case fields when 1 then 'count(*)::integer' else format('(count(*) filter (where w.field = %s))::integer', i) end, ', '))
       from generate_series(1, fields) i),
    (select format('array[%s]', string_agg(format('sum(p.frequencies[%s])::integer', i), ', ')) from generate_series(1, fields) i),
    fields,
    (select format('array[%s]', string_agg(format('sum(lengths[%s])', i), ', ')) from generate_series(1, fields) i),
    counters
  )];
end
$$;

comment on function svc_private.indexing_sql(integer, text, text) is 'SQL that indexes the rows which a piece of SQL selects.';
