-- The cosine of the angle between two vectors of length 1: their product. Called by
-- svc_private.chunks_by_vector() and svc_private.select_passages() for vectors of the same dimensions.
--
-- pgvector multiplies many times as fast. Not every server has it, so the statement that names its type is parsed only
-- where the type exists.

create or replace function svc_hidden.similarity_of(one real[], other real[])
returns double precision  -- from -1 to 1; null when a vector is missing
language plpgsql
immutable
strict
parallel safe
as $$
begin
  if pg_catalog.to_regtype('extensions.vector') is not null then
    return -(one::extensions.vector operator(extensions.<#>) other::extensions.vector);
  end if;
  return (
    select pg_catalog.sum(pair.x::double precision operator(pg_catalog.*) pair.y)
      from rows from (pg_catalog.unnest(one), pg_catalog.unnest(other)) as pair (x, y));
end
$$;

comment on function svc_hidden.similarity_of(real[], real[]) is
  'The cosine similarity of two vectors of length 1 with the same dimensions. '
  'lint:allow function_without_search_path: it names every schema, and SET would take longer than the product.';

grant execute on function svc_hidden.similarity_of(real[], real[]) to svc_anonymous, svc_authenticated;
