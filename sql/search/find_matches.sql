-- The rows of a group that match a query best, by BM25, best first: candidates of a search. Called by
-- svc_private.select_matches() and `svc search`.
--
-- SECURITY DEFINER, because no request may read the index. It also reads rows that the caller may not read, so no
-- request may call it: keys, scores and the words that a prefix finds would reveal those rows. Only readers
-- (sql/roles.sql) and the system may. svc_private.select_matches() joins the candidates with the table, under the
-- caller's policies.
--
-- A document's score is the sum over the query's terms of
--   weight * tf / (tf + k1 * (1 - b + b * length / average)),  weight = n * ln(1 + (N - df + 0.5) / (df + 0.5)),
-- where k1 and b are the table's constants (svc_private.search_constants), and n is the number of times that the query has the
-- term, or what feedback makes of it. A prefix means one of the terms that it was completed to: each of them has
-- n = 1 / sqrt(number of these terms).
--
-- tf, length, average and df are those of the chosen fields, which count together as one text. If the table gives weights to its
-- fields, tf is the sum of the term's occurrences, each by the weight of its field. N, df and average are counted over the whole
-- group: one corpus and visibility, and for private rows one owner. Where an application's policy hides some rows of a group, the scores of
-- the others still depend on the number of rows, their average length, and how many of them hold a term of the query.
--
-- A page far down, or many given rows, must be opened whatever the query is. Then only the rarest terms of the query
-- count, so that 250 words are not looked up in each of 40,000 documents.
--
-- svc_private.search_group() reads the group, svc_private.read_query() the terms, svc_private.find_best() finds the
-- documents, svc_private.score_documents() scores them. There is one plan, independent of the tables' statistics: documents
-- are found by their keys, and sequential scans are off.

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
  feedback svc_private.search_feedback default null,  -- svc_private.feedback_terms()
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
  most_looks constant integer := 500000; -- at terms of documents; about
  most_terms constant integer := least(256, 2 * most_looks / greatest(  -- of a query; the rarest count
    case when among is null then 4 * wanted else cardinality(among) end, 1));
  most_endings constant integer := 32; -- of a prefix; the commonest count
  begun constant text := case when prefix or octet_length(query) <> length(query) then svc_private.search_begun(query, prefix) end;
  searched record;
  asked svc_private.search_query;
  endings text[];
  best record;
begin
  row_ids := '{}';
  scores := '{}';
  is_all := true;

  -- Step 1: the group that is searched.
  searched := svc_private.search_group(
    find_matches.target, find_matches.fields, find_matches.corpus, find_matches.visibility, find_matches.owner_id);
  asked := searched.searched;

  -- Step 2: the terms that prefixes are completed to. Among given rows, they are counted in those alone: rows that were
  -- left out must not take their places.
  if begun is not null then
    endings := case
      when among is null
        then array(select e.term from svc_private.search_endings(asked.group_id, asked.width, begun, most_endings + 1) as e)
      else array(
        select e.term from svc_private.search_endings_among(asked.group_id, asked.width, begun, among, most_endings + 1) as e)
    end;
    is_all := cardinality(endings) <= most_endings;
    endings := endings[1 : most_endings];
  end if;

  -- Step 3: the terms of the query, with what the index says of them.
  asked := svc_private.read_query(asked, query, endings, searched.language, most_terms, feedback);
  if asked.terms is null then
    return;
  end if;

  -- Step 4: the documents.
  if among is not null then
    select s.row_ids, s.scores into row_ids, scores
      from svc_private.score_documents(asked, array(
        select d.ctid from svc_private.search_documents d
         where d.table_id = asked.table_id and d.row_id = any (among) and d.group_id = asked.group_id), wanted) as s;
    return;
  end if;
  best := svc_private.find_best(asked, wanted, most_looks);
  row_ids := best.row_ids;
  scores := best.scores;
  is_all := is_all and best.is_all;
end
$$;

comment on function svc_private.find_matches(text, text[], text, text, text, text, integer, boolean, text[], svc_private.search_feedback) is
  'Keys of the rows of a corpus, visibility and owner that match a query, with their BM25 scores, best first; '
  'without policies. '
  'Definer: no request reads the index; readers may call it, and policies decide about the rows.';

grant execute on function svc_private.find_matches(text, text[], text, text, text, text, integer, boolean, text[], svc_private.search_feedback)
  to svc_reader_anonymous, svc_reader_authenticated;
