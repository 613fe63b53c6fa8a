-- The constants of BM25 of a searchable table: how soon further occurrences of a term stop counting (k1), and how much
-- the length of a row does (b). Called by svc_private.search_group() and svc_private.explain_match(). Why these
-- defaults: docs/adr/0026-weights-that-hold-elsewhere.md.

create or replace function svc_private.search_constants(definition jsonb, out k1 double precision, out b double precision)
language plpgsql  -- which keeps its plan between searches; language sql does not
immutable
set search_path = ''
as $$
begin
  k1 := coalesce((definition #>> '{bm25,k1}')::double precision, 1.2);
  b := coalesce((definition #>> '{bm25,b}')::double precision, 0.75);
end
$$;

comment on function svc_private.search_constants(jsonb) is 'The constants of BM25 that a searchable table declares, or the default ones.';
