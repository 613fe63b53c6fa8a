-- The rows of a group that match a query best, by BM25 (k1 = 0.9, b = 0.4), best first: candidates of a search. Called
-- by svc_private.select_matches() and `svc search`.
--
-- SECURITY DEFINER, because no request may read the index. It also reads rows that the caller may not read, so no
-- request may call it: keys, scores and the words that a prefix finds would reveal those rows. Only readers
-- (sql/roles.sql) and the system may. svc_private.select_matches() joins the candidates with the table, under the
-- caller's policies.
--
-- A document's score is the sum over the query's terms of
--   weight * tf / (tf + k1 * (1 - b + b * length / average)),  weight = n * ln(1 + (N - df + 0.5) / (df + 0.5)),
-- where n is the number of times that the query has the term. tf, length, average and df are those of the chosen
-- fields, which count together as one text. N, df and average are counted over the whole group: one corpus and
-- visibility, and for private rows one owner. Where an application's policy hides some rows of a group, the scores of
-- the others still depend on the number of rows, their average length, and how many of them hold a term of the query.
--
-- The counters say, for each term, how many documents hold it how often and in how long a text. svc_private.search_tail
-- estimates from that the score that the best documents are likely to reach. The index over keys finds the documents
-- that can reach it (svc_private.search_cover), and these are scored. If as many as are wanted reach it, no other
-- document can be among the best. If not, a lower score is tried.
--
-- The number of documents that are opened has a limit, because a query of many common words would otherwise open all of
-- them. If more are likely to reach the score, only those with the most of the terms are opened
-- (svc_private.search_most), and the result is the best of these. A page far down, or many admitted rows, must be
-- opened whatever the query is. Then only the rarest terms of the query count, so that 250 words are not looked up in
-- each of 40,000 documents.
--
-- There is one plan, independent of the tables' statistics: documents are found by their keys. Sequential scans are
-- off, and `group_id + 0` keeps PostgreSQL from using the index over groups.

create or replace function svc_private.find_matches(
  target text,        -- schema and name, quoted as in svc_private.search_tables
  fields text[],
  query text,
  corpus text,
  visibility text,
  owner_id text,      -- owner of the rows; for private rows only
  wanted integer,     -- null: all that match
  prefix boolean default false, -- the last word is also a prefix
  among text[] default null,    -- only rows with these keys
  out row_ids text[],
  out scores double precision[],
  out is_all boolean  -- false: more rows may match than were returned
)
language plpgsql
stable
security definer
set search_path = ''
set jit = off
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
set work_mem = '32MB'
as $$
#variable_conflict use_column
declare
  k1 constant double precision := 0.9;
  b constant double precision := 0.4;
  most_looks constant integer := 500000; -- at terms of documents; about
  most_terms constant integer := least(256, 2 * most_looks / greatest(  -- of a query; the rarest count
    case when among is null then 4 * wanted else cardinality(among) end, 1));
  most_endings constant integer := 32; -- of a prefix; the commonest count
  indexed svc_private.search_tables;
  searched integer;
  places integer[];
  bits integer;
  whole boolean;           -- all fields are chosen
  documents double precision;
  average double precision;
  terms text[];
  weights double precision[];
  -- Classes of postings: terms with the rarest first, and of a term those that add most first.
  term_of integer[];
  tops double precision[];     -- what none of a class adds more than
  addends double precision[];  -- what most of a class add
  keys bigint[];
  counts bigint[];
  step double precision;
  tail double precision[];
  likely double precision := 2 * wanted::double precision;  -- so many documents shall reach the score that is tried
  tried double precision := 0;
  most double precision;  -- documents that may be opened
  cover record;
  lows bigint[];   -- no key of a term is below, none above
  highs bigint[];
  scoring text;
  endings text[];
begin
  row_ids := '{}';
  scores := '{}';
  is_all := true;
  select * into indexed from svc_private.search_tables t where t.name = find_matches.target;
  if indexed.id is null then
    raise exception '% is not searchable in this database', find_matches.target
      using errcode = '55000', hint = 'Declare it with searchable(), then run svc codegen and svc migrate.';
  end if;
  places := array(
    select p.place::integer
      from (select distinct unnest(find_matches.fields) as field) as f
      left join jsonb_array_elements_text(indexed.definition -> 'fields') with ordinality as p (field, place) using (field)
  );
  if cardinality(places) = 0 or array_position(places, null) is not null then
    raise exception 'unknown field for a search in %', find_matches.target using errcode = '22023';
  end if;
  bits := (select bit_or(1 << (p - 1)) from unnest(places) as p);
  whole := cardinality(places) = jsonb_array_length(indexed.definition -> 'fields');

  select g.id into searched from svc_private.search_groups g
   where g.table_id = indexed.id and g.corpus = find_matches.corpus and g.visibility = find_matches.visibility
     and g.owner_id is not distinct from case when find_matches.visibility = 'private' then find_matches.owner_id end;

  select sum(t.documents), sum((select sum(t.lengths[p]) from unnest(places) as p))
    into documents, average
    from svc_private.search_totals t where t.group_id = searched;
  average := greatest(average / nullif(documents, 0), 1);

  if prefix then
    -- Among given rows, endings are counted in those alone: rows that were left out must not take their places.
    endings := case
      when among is null then array(select e.term from svc_private.search_endings(searched, query, most_endings + 1) as e)
      else array(select e.term from svc_private.search_endings_among(searched, query, among, most_endings + 1) as e)
    end;
    is_all := cardinality(endings) <= most_endings;
    endings := endings[1 : most_endings];
  end if;

  with asked as (
    select t.term collate "C" as term, count(*) as n
      from svc_private.search_words(find_matches.query) as word
     cross join lateral svc_private.search_terms(word, (indexed.definition ->> 'language')::regconfig) as t (term)
     group by 1
    union all
    select ending, 1 from unnest(endings) as ending
  ), class as materialized (
    -- For each term anew, so that nothing but the index on terms serves.
    select a.term, a.n, c.fields, c.class, c.postings
      from asked a
     cross join lateral (
       select c.fields, c.class::integer as class, sum(c.documents)::bigint as postings
         from svc_private.search_counters c
        where c.group_id = searched and c.term = a.term and c.fields & bits <> 0
        group by 1, 2
       having sum(c.documents) > 0
     ) as c
  ), weighed as (
    select term, row_number() over (order by weight desc, term) as number, weight
      from (
        select term, n * ln(1 + (documents - sum(c.postings) + 0.5) / (sum(c.postings) + 0.5)) as weight
          from class c group by term, n
      ) as w
     order by weight desc, term
     limit most_terms
  ), bounded as (
    -- Beside other fields than those declared, a class tells the most that its frequencies can be, and of lengths nothing.
    select w.number, c.postings, svc_private.search_key(searched, c.term, c.fields, c.class) as key,
           (1 + 1e-9) * w.weight * r.most / (r.most + k1 * (1 - b) + k1 * b / average * greatest(r.most, case when whole then r.shortest end)) as top,
           w.weight * r.fewest / (r.fewest + k1 * (1 - b) + k1 * b / average * case when whole then (r.shortest + r.longest) / 2 else average end) as addend
      from weighed w join class c using (term)
     cross join lateral svc_private.search_reach(c.class) as r
  )
  select (select array_agg(term order by number) from weighed), (select array_agg(weight order by number) from weighed),
         array_agg(number order by number, top desc, key), array_agg(top order by number, top desc, key),
         array_agg(addend order by number, top desc, key), array_agg(key order by number, top desc, key),
         array_agg(postings order by number, top desc, key)
    into terms, weights, term_of, tops, addends, keys, counts
    from bounded;
  if terms is null then
    return;
  end if;

  lows := array(select svc_private.search_key(searched, term, 0, 0) from unnest(terms) as term);
  highs := array(select svc_private.search_key(searched, term, 65535, 255) from unnest(terms) as term);
  -- Numbers only; as floats, since numeric takes many times as long. What is left to be filled in: a condition, and how many
  -- documents may be opened.
  scoring := (
    select format($sql$
      select array_agg(s.row_id order by s.score desc, s.row_id), array_agg(s.score order by s.score desc, s.row_id)
        from (
          select d.row_id, s.score
            from (select * from svc_private.search_documents d where d.group_id + 0 = $5 and (%%s) limit %%s) as d
           cross join lateral (
             -- To append nothing unpacks an array once, where each look at it would do so anew.
             select d.keys || null::bigint[] as keys, d.terms || null::text[] as terms,
                    d.frequencies || null::integer[] as frequencies, %L::float8 + %L::float8 * (%s) as norm
             offset 0
           ) as x
           cross join lateral (
             select sum(q.weight * f.tf / (f.tf + x.norm)) as score
               from unnest($1, $2, $3, $4) as q (low, high, term, weight)
              cross join lateral (select width_bucket(q.high, x.keys) as place offset 0) as p
              cross join lateral (select %s as tf offset 0) as f
              where x.keys[p.place] >= q.low and x.terms[p.place] = q.term
           ) as s
           where s.score > 0
           order by s.score desc, d.row_id limit %s
        ) as s
      $sql$,
      k1 * (1 - b), k1 * b / average, string_agg(format('d.lengths[%s]', place), ' + '),
      string_agg(format('x.frequencies[p.place][%s]', place), ' + '), coalesce(wanted::text, 'all'))
      from unnest(places) as place
  );

  if among is not null then
    execute format(scoring, format('d.table_id = %s and d.row_id = any ($6)', indexed.id), 'all')
      into row_ids, scores using lows, highs, terms, weights, searched, among;
    return;
  end if;

  if (select sum(n) from unnest(counts) as n) > likely then
    step := (select sum(top) from (select max(u.top) as top from unnest(term_of, tops) as u (number, top) group by u.number) as t) / 64;
    tail := svc_private.search_tail(term_of, addends, counts, documents, step);
    tried := step * coalesce((select max(place) from unnest(tail) with ordinality as t (n, place) where n >= likely), 0);
    if cardinality(terms) > 3 then
      -- Words of a question stand together more often than by chance. What adds most tells how high scores really are.
      execute format(scoring, svc_private.search_first(tops, counts, keys, 2 * likely), 'all')
        into row_ids, scores using lows, highs, terms, weights, searched;
      tried := greatest(tried, scores[wanted]);
    end if;
  end if;
  most := greatest(most_looks / cardinality(terms), 4 * wanted);
  loop
    select * into cover from svc_private.search_cover(term_of, tops, counts, keys, tried, documents);
    if cover.likely > most then
      is_all := false;
      -- Words that keep company may find more than is likely: twice as many are enough.
      execute format(scoring, svc_private.search_most(term_of, counts, keys, documents, most), ceil(2 * most))
        into row_ids, scores using lows, highs, terms, weights, searched;
      if coalesce(cardinality(row_ids), 0) < coalesce(wanted, most) then
        -- Words that shun each other, as those of two languages do, stand together nowhere.
        execute format(scoring, svc_private.search_first(tops, counts, keys, most), ceil(2 * most))
          into row_ids, scores using lows, highs, terms, weights, searched;
      end if;
      exit;
    end if;
    execute format(scoring, cover.condition, 'all') into row_ids, scores using lows, highs, terms, weights, searched;
    exit when tried = 0 or scores[wanted] >= tried;
    likely := likely * 8;
    tried := coalesce(scores[wanted], step * (
      select max(place) from unnest(tail) with ordinality as t (n, place) where n >= likely and place * step < tried
    ), 0);
  end loop;
end
$$;

comment on function svc_private.find_matches(text, text[], text, text, text, text, integer, boolean, text[]) is
  'Keys of the rows of a corpus, visibility and owner that match a query, with their BM25 scores, best first; policies do not count. '
  'Definer: no request reads the index; readers may call it, and policies decide about the rows.';

grant execute on function svc_private.find_matches(text, text[], text, text, text, text, integer, boolean, text[])
  to svc_reader_anonymous, svc_reader_authenticated;
