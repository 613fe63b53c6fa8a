-- Cosine similarities of given rows to a vector, -1 to 1. svc.search_hybrid() calls it for texts that only the words
-- found. Invoker's rights. The keys come from svc.search_keyword(), which has applied scope and filters. A row without
-- a vector, or with one of zeros, is left out.

create or replace function svc_hidden.search_cosines(
  target jsonb,       -- {table}: the name of a searchable table
  vector_field text,
  vector text,        -- as pgvector reads it: [1,2,3]
  ids text[]
)
returns table (id text, score double precision)
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  declared constant jsonb := svc_hidden.search_target(target ->> 'table');
begin
  if cardinality(ids) > 0 then
    return query execute format($sql$
      select t.%1$I::text, 1 - (t.%2$I <=> %3$L)
        from %4$s as t
       where t.%1$I = any (%5$L::%6$s[]) and (t.%2$I <=> %3$L) <> 'NaN'
    $sql$, declared ->> 'id', vector_field, vector, declared ->> 'table', ids, declared ->> 'idType');
  end if;
end
$$;

comment on function svc_hidden.search_cosines(jsonb, text, text, text[]) is
  'Cosine similarities of those of the given rows that the caller may read.';

grant execute on function svc_hidden.search_cosines(jsonb, text, text, text[]) to svc_anonymous, svc_authenticated;
