-- Vector search: ctx.vectorSearch (src/search/context.ts), and a leg of svc.search_hybrid(). The score is the cosine
-- similarity, -1 to 1.
--
-- Invoker's rights. The index does not contain scopes, filters and policies: pgvector continues its scan (iterative
-- scan) until enough rows pass them. It stops after some 20,000 rows (hnsw.max_scan_tuples), and before version 0.8
-- without any iteration. Where the page is not full, the rows that pass are compared one by one, without the index.
--
-- A vector of zeros has no direction: its distance is NaN, which comes last, and it is left out as the index leaves it out.
--
-- Volatile only because it sets those two parameters, until the transaction ends. They cannot be in the function's own
-- SET clauses: a session that has not loaded pgvector yet refuses to store them there. A loop is used instead of
-- EXECUTE … INTO, for the reason in svc.estimate_rows(): the composed SQL must not be able to SET anything.

create or replace function svc.search_vector(
  target jsonb,       -- {table}: the name of a searchable table
  vector_field text,
  vector text,        -- as pgvector reads it: [1,2,3]
  scope jsonb,
  filters jsonb,
  page_size integer,
  skipped integer
)
returns table (id text, score double precision)
language plpgsql
volatile
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  wanted constant integer := page_size + skipped;
  declared constant jsonb := svc_hidden.search_target(target ->> 'table');
  condition constant text := svc_hidden.search_condition(declared, scope, filters);
  order_and_limit text;
  ids text[];
  distances double precision[];
begin
  begin
    -- A scan that keeps only as many candidates as are wanted misses many of the nearest rows.
    execute format('set local hnsw.ef_search = %s', least(greatest(300, 2 * wanted), 1000));
    set local hnsw.iterative_scan = 'strict_order';
  exception when invalid_name or undefined_object then
    null;
  end;
  -- Rows at the same distance are in the order of their keys, or pages would repeat and miss some of them. The index knows no
  -- such order: it gives all rows at the last distance. The second form adds 0, so that PostgreSQL uses no index.
  foreach order_and_limit in array array[
    't.%2$I <=> %3$L fetch first %6$s rows with ties', '(t.%2$I <=> %3$L) + 0, t.%1$I::text collate "C" limit %6$s'
  ] loop
    for ids, distances in execute format($sql$
      select array_agg(id), array_agg(distance)
        from (
          select t.%1$I::text as id, t.%2$I <=> %3$L as distance
            from %4$s as t
           where %5$s and t.%2$I is not null
           order by $sql$ || order_and_limit || $sql$
        ) as nearest
    $sql$, declared ->> 'id', vector_field, vector, declared ->> 'table', condition, wanted)
    loop
      exit;  -- there is one row
    end loop;
    exit when cardinality(ids) >= wanted;
  end loop;

  return query
    select n.id, 1 - n.distance from unnest(ids, distances) as n (id, distance)
     where n.distance <> 'NaN'
     order by n.distance, n.id collate "C" offset skipped limit page_size;
end
$$;

comment on function svc.search_vector(jsonb, text, text, jsonb, jsonb, integer, integer) is
  'Keys and cosine similarities of the rows that the caller may read and whose vectors are nearest, nearest first. '
  'lint:allow executed_text: only a number is inserted.';

grant execute on function svc.search_vector(jsonb, text, text, jsonb, jsonb, integer, integer) to svc_anonymous, svc_authenticated;
