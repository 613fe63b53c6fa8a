-- The implementation of svc.search_keyword() for all of its callers: the rows that match a query and that the executing
-- role may read, best first.
--
-- Invoker's rights. svc_hidden.search_keyword_as_anonymous() and svc_hidden.search_keyword_as_authenticated() execute it as a reader,
-- so that the policies of the request's role apply. The system executes it as itself.
--
-- A match counts when the policies show its row and the filters admit it. How many of the best matches remain is only
-- known afterwards, so more of them are requested until the page is full. If policies and filters exclude nearly all
-- matches, or the index did not return all, the order is reversed: the rows that they admit are scored.
--
-- With feedback, a search without it comes first. Its best rows give terms: they are rows that the policies show and the
-- filters admit, and their texts are read by this role.
--
-- The keys are cast before the join. A cast in its condition is not leakproof: under a policy, PostgreSQL would then read
-- the whole table instead of its primary key.

create or replace function svc_private.select_matches(
  target text,        -- as svc_hidden.search_target() takes it
  fields text[],
  query text,
  scope jsonb,
  filters jsonb,
  page_size integer,
  skipped integer,
  prefix boolean,
  feedback jsonb default null  -- {documents, terms, weight}: svc_private.feedback_terms()
)
returns table (id text, score double precision)
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
set datestyle = 'ISO'  -- the index has keys as text in this form: svc_private.index_rows()
set intervalstyle = 'postgres'
set bytea_output = 'hex'
as $$
#variable_conflict use_column
declare
  declared constant jsonb := svc_hidden.search_target(select_matches.target);
  relation constant regclass := declared ->> 'table';
  condition constant text := svc_hidden.search_condition(declared, scope, filters);
  owner_id constant text := coalesce(scope ->> 'owner', svc.current_user_id());
  most_rows constant integer := 100000;  -- admitted rows that may be scored
  documents constant integer := feedback ->> 'documents';  -- that give terms, 20 at most
  most_characters constant integer := 20000;  -- of each of them
  expanded svc_private.search_feedback;
  wanted integer := page_size + skipped;
  among text[];
  matched record;
  found integer;
  needed integer;  -- matches that fill the page, if as large a share of those that follow is admitted
  is_left_out boolean;  -- rows may be missing although no more are found
  ids text[];
  scores double precision[];
begin
  -- The index has the words of all declared columns. Grants may hide one of these from the role.
  if not has_table_privilege(relation, 'select') then  -- an `exists` here would cost each search a statement
    if exists (
      select from pg_attribute a
       where a.attrelid = relation and a.attname = any (fields) and not has_column_privilege(relation, a.attnum, 'select')
    ) then
      raise exception 'permission denied for a searched column of %', declared ->> 'table' using errcode = '42501';
    end if;
  end if;

  if documents > 0 then
    select array_agg(s.id), array_agg(s.score) into ids, scores
      from svc_private.select_matches(target, fields, query, scope, filters, least(documents, 20), 0, prefix) as s;
    execute format($sql$
      select f.*
        from (
          select array_agg(left(concat_ws(' ', %s), %s) order by m.place) as texts, array_agg(m.score order by m.place) as scores
            from unnest($1::%s[], $3) with ordinality as m (id, score, place)
            join %s as t on t.%I = m.id
        ) as best
       cross join lateral svc_private.feedback_terms($2, best.texts, best.scores, $4, $5) as f
    $sql$, (select string_agg(format('t.%I', field), ', ') from unnest(fields) as field), most_characters,
      declared ->> 'idType', declared ->> 'table', declared ->> 'id')
    into expanded
    using ids, query, scores, declared ->> 'language', feedback;
  end if;

  loop
    matched := svc_private.find_matches(
      target, fields, query, scope ->> 'corpus', scope ->> 'visibility', owner_id, wanted, prefix, among, expanded);
    found := coalesce(cardinality(matched.row_ids), 0);
    execute format('select array(select m.row_id from unnest($1::%s[], $1) as m (id, row_id) join %s as t on t.%I = m.id where %s)',
      declared ->> 'idType', declared ->> 'table', declared ->> 'id', condition)
    into ids
    using matched.row_ids;

    exit when wanted is null or among is not null or cardinality(ids) >= page_size + skipped;
    is_left_out := not matched.is_all and found < wanted and (found = 0 or cardinality(ids) < found);
    exit when found < wanted and not is_left_out;
    needed := wanted * (page_size + skipped)::bigint / nullif(cardinality(ids), 0);
    if wanted < 1000 and needed is null and not is_left_out then
      wanted := 1000;
    elsif wanted < 1000 and needed < 4000 and not is_left_out then
      wanted := 2 * needed + 100;
    else
      execute format('select coalesce(svc_private.key_texts(array_agg(id)), ''{}'')
        from (select t.%I as id from %s as t where %s limit %s) as admitted',
        declared ->> 'id', declared ->> 'table', condition, most_rows + 1) into among;
      wanted := page_size + skipped;
      if cardinality(among) > most_rows then
        among := null;
        wanted := null;
      end if;
    end if;
  end loop;

  return query
    select m.id, m.score
      from unnest(matched.row_ids, matched.scores) with ordinality as m (id, score, place) join unnest(ids) as r (id) using (id)
     order by m.place offset skipped limit page_size;
end
$$;

comment on function svc_private.select_matches(text, text[], text, jsonb, jsonb, integer, integer, boolean, jsonb) is
  'Keys and BM25 scores of the rows that the executing role may read and a query matches, best first.';

grant execute on function svc_private.select_matches(text, text[], text, jsonb, jsonb, integer, integer, boolean, jsonb)
  to svc_reader_anonymous, svc_reader_authenticated;
