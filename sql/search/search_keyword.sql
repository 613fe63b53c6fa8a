-- Keyword search: ctx.search (src/context/search.ts), and a leg of svc.search_hybrid().
--
-- Invoker's rights: a match counts when the caller's policies show its row, and when the filters admit it. How many of
-- the best matches that leaves is known afterwards only, so more of them are asked for until the page is full. If
-- policies and filters leave out nearly all, it is the other way round: the rows that they admit are scored.

create or replace function svc.search_keyword(
  target jsonb,       -- {table, id, idType, corpus, visibility, owner}: names, from the table's declaration
  fields text[],
  query text,
  scope jsonb,        -- {corpus, visibility, owner}
  filters jsonb,      -- [{column, op, value}]: see svc.filter_condition()
  page_size integer,
  skipped integer,
  prefix boolean default false  -- the last word also finds what begins with it
)
returns table (id text, score double precision)
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
#variable_conflict use_column
declare
  condition constant text := svc.search_condition(target, scope, filters);
  most_rows constant integer := 100000;  -- that are scored because they are admitted
  wanted integer := page_size + skipped;
  among text[];
  found integer;
  needed integer;  -- matches that fill the page, if as large a share of those that follow is admitted
  ids text[];
  scores double precision[];
begin
  loop
    execute format($sql$
      with match as materialized (
        select m.row_id, m.score, row_number() over () as place from svc.find_matches($1, $2, $3, $4, $5, $6, $7, $8) as m
      )
      select (select count(*) from match), array_agg(m.row_id order by m.place), array_agg(m.score order by m.place)
        from match m join %s as t on t.%I = m.row_id::%s
       where %s
    $sql$, target ->> 'table', target ->> 'id', target ->> 'idType', condition)
    into found, ids, scores
    using target ->> 'table', fields, query, scope ->> 'corpus', scope ->> 'visibility', wanted, prefix, among;

    exit when wanted is null or found < wanted or among is not null or cardinality(ids) >= page_size + skipped;
    needed := wanted * (page_size + skipped)::bigint / cardinality(ids);
    if wanted < 1000 and needed is null then
      wanted := 1000;
    elsif wanted < 1000 and needed < 4000 then
      wanted := 2 * needed + 100;
    else
      execute format('select coalesce(array_agg(id), ''{}'') from (select t.%I::text as id from %s as t where %s limit %s) as admitted',
        target ->> 'id', target ->> 'table', condition, most_rows + 1) into among;
      wanted := page_size + skipped;
      if cardinality(among) > most_rows then
        among := null;
        wanted := null;
      end if;
    end if;
  end loop;

  return query
    select r.id, r.score from unnest(ids, scores) with ordinality as r (id, score, place)
     order by r.place offset skipped limit page_size;
end
$$;

comment on function svc.search_keyword(jsonb, text[], text, jsonb, jsonb, integer, integer, boolean) is
  'Keys and BM25 scores of the rows that the caller may read and a query matches, best first.';

grant execute on function svc.search_keyword(jsonb, text[], text, jsonb, jsonb, integer, integer, boolean) to svc_anonymous, svc_authenticated;
