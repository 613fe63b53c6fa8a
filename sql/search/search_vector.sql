-- Vector search: ctx.vectorSearch (src/context/search.ts), and a leg of svc.search_hybrid(). The score is the cosine
-- similarity, -1 to 1.
--
-- Invoker's rights. The index knows nothing of scopes, filters and policies: pgvector walks on (iterative scan) until
-- enough of what it finds passes them. pgvector 0.8 is needed for that; an older one may give fewer rows than there are.
--
-- Volatile only because it sets those two parameters, until the transaction ends. They cannot stand in the function's
-- own SET clauses: a session in which pgvector has not been loaded yet refuses to store them there.

create or replace function svc.search_vector(
  target jsonb,
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
begin
  begin
    -- A walk that keeps no more rows than are wanted misses many of the nearest.
    execute format('set local hnsw.ef_search = %s', least(greatest(300, 2 * (page_size + skipped)), 1000));
    set local hnsw.iterative_scan = 'strict_order';
  exception when invalid_name or undefined_object then
    null;
  end;
  return query execute format($sql$
    select t.%1$I::text, 1 - (t.%2$I <=> %3$L)
      from %4$s as t
     where %5$s and t.%2$I is not null
     order by t.%2$I <=> %3$L
     limit %6$s offset %7$s
  $sql$, target ->> 'id', vector_field, vector, target ->> 'table', svc.search_condition(target, scope, filters),
    page_size, skipped);
end
$$;

comment on function svc.search_vector(jsonb, text, text, jsonb, jsonb, integer, integer) is
  'Keys and cosine similarities of the rows that the caller may read and whose vectors are nearest, nearest first.';

grant execute on function svc.search_vector(jsonb, text, text, jsonb, jsonb, integer, integer) to svc_anonymous, svc_authenticated;
