-- The documents of a group that match a query best. Called by svc_private.find_matches().
--
-- The counters say, for each term, how many documents hold it how often and in how long a text. svc_private.search_tail
-- estimates from that the score that the best documents are likely to reach. The index over keys finds the documents
-- that can reach it (svc_private.search_cover), and these are scored. If as many as are wanted reach it, no other
-- document can be among the best. If not, a lower score is tried.
--
-- The number of documents that are opened has a limit, because a query of many common words would otherwise open all of
-- them. If more are likely to reach the score, only those with the most of the terms are opened
-- (svc_private.search_most), and the result is the best of these.

create or replace function svc_private.find_best(
  asked svc_private.search_query,
  wanted integer,       -- null: all that match
  most_looks integer,   -- at terms of documents
  out row_ids text[],
  out scores double precision[],
  out is_all boolean
)
language plpgsql
stable
as $$
#variable_conflict use_column
declare
  few constant integer := 200;  -- documents that are all opened; to choose among them would take longer
  choosing constant text := 'select array(select d.ctid from svc_private.search_documents d where d.group_id = $1 and (%s) limit %s)';
  postings constant bigint := (select sum(n) from unnest(asked.counts) as n);
  most constant double precision := greatest(most_looks / cardinality(asked.terms), 4 * wanted);  -- documents to open
  likely double precision := 2 * wanted::double precision;  -- how many documents shall reach the score that is tried
  tried double precision := 0;
  step double precision;
  tail double precision[];
  cover record;
  positions tid[];
begin
  is_all := true;
  if postings <= few then
    select s.row_ids, s.scores into row_ids, scores from svc_private.score_documents(asked, null, wanted) as s;
    return;
  end if;

  -- Step 1: a score that as many documents as are wanted are likely to reach.
  if postings > likely then
    step := (
      select sum(top)
        from (select max(u.top) as top from unnest(asked.term_of, asked.tops) as u (number, top) group by u.number) as t
    ) / 64;
    tail := svc_private.search_tail(asked.term_of, asked.addends, asked.counts, asked.documents, step);
    tried := step * coalesce((select max(place) from unnest(tail) with ordinality as t (n, place) where n >= likely), 0);
    if cardinality(asked.terms) > 3 then
      -- Words of a question occur together more often than by chance. The documents with the highest addends show how
      -- high scores really are.
      execute format(choosing, svc_private.search_first(asked.tops, asked.counts, asked.keys, 2 * likely), 'all')
        into positions using asked.group_id;
      select s.row_ids, s.scores into row_ids, scores from svc_private.score_documents(asked, positions, wanted) as s;
      tried := greatest(tried, scores[wanted]);
    end if;
  end if;

  -- Step 2: the documents that can reach it; then a lower score, until enough documents do.
  loop
    select * into cover
      from svc_private.search_cover(asked.term_of, asked.tops, asked.counts, asked.keys, tried, asked.documents);
    exit when cover.likely > most;
    execute format(choosing, cover.condition, 'all') into positions using asked.group_id;
    select s.row_ids, s.scores into row_ids, scores from svc_private.score_documents(asked, positions, wanted) as s;
    if tried = 0 or scores[wanted] >= tried then
      return;
    end if;
    likely := likely * 8;
    tried := coalesce(scores[wanted], step * (
      select max(place) from unnest(tail) with ordinality as t (n, place) where n >= likely and place * step < tried
    ), 0);
  end loop;

  -- Step 3: these are too many documents. Words that occur together may find more than is likely: twice as many are
  -- enough.
  is_all := false;
  execute format(choosing, svc_private.search_most(asked.term_of, asked.counts, asked.keys, asked.documents, most), ceil(2 * most))
    into positions using asked.group_id;
  select s.row_ids, s.scores into row_ids, scores from svc_private.score_documents(asked, positions, wanted) as s;
  if coalesce(cardinality(row_ids), 0) < coalesce(wanted, most) then
    -- Words that never occur together, such as those of two languages.
    execute format(choosing, svc_private.search_first(asked.tops, asked.counts, asked.keys, most), ceil(2 * most))
      into positions using asked.group_id;
    select s.row_ids, s.scores into row_ids, scores from svc_private.score_documents(asked, positions, wanted) as s;
  end if;
end
$$;

comment on function svc_private.find_best(svc_private.search_query, integer, integer) is
  'The documents of a group that match a query best. Part of svc_private.find_matches(). '
  'lint:allow function_without_search_path: it runs under that of svc_private.find_matches().';
