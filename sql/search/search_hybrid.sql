-- Hybrid search: ctx.hybridSearch (src/context/search.ts). Both legs and their fusion are one statement.
--
-- rrf (reciprocal rank fusion) adds weight / (k + rank) over the legs, and looks at ranks alone. convex adds
-- weight * score, each leg's scores brought to 0 to 1 between its worst and its best candidate: it keeps distances, and
-- does not fall below the better leg where the other one ranks at random, as rrf may.

create or replace function svc.search_hybrid(
  target jsonb,
  fields text[],
  query text,
  vector_field text,
  vector text,
  scope jsonb,
  filters jsonb,
  tuning jsonb,       -- {keywordCandidateLimit, vectorCandidateLimit, mode: rrf | convex, k, keywordWeight, vectorWeight}
  page_size integer,
  skipped integer,
  prefix boolean default false  -- the last word also finds what begins with it
)
returns table (id text, fused double precision, keyword double precision, vector_score double precision)
language sql
volatile  -- as svc.search_vector() is
set search_path = ''
as $$
  with keyword as materialized (
    select k.id, k.score, row_number() over (order by k.score desc, k.id) as rank,
           (k.score - min(k.score) over ()) / nullif(max(k.score) over () - min(k.score) over (), 0) as share
      from svc.search_keyword(target, fields, query, scope, filters, (tuning ->> 'keywordCandidateLimit')::integer, 0, prefix) as k
  ), nearest as materialized (
    select v.id, v.score, row_number() over (order by v.score desc, v.id) as rank,
           (v.score - min(v.score) over ()) / nullif(max(v.score) over () - min(v.score) over (), 0) as share
      from svc.search_vector(target, vector_field, vector, scope, filters, (tuning ->> 'vectorCandidateLimit')::integer, 0) as v
  )
  select id,
         case tuning ->> 'mode'
           when 'rrf' then
             coalesce((tuning ->> 'keywordWeight')::double precision / ((tuning ->> 'k')::double precision + k.rank), 0)
             + coalesce((tuning ->> 'vectorWeight')::double precision / ((tuning ->> 'k')::double precision + v.rank), 0)
           else
             -- All candidates of a leg alike: each of them is its best.
             case when k.id is null then 0 else (tuning ->> 'keywordWeight')::double precision * coalesce(k.share, 1) end
             + case when v.id is null then 0 else (tuning ->> 'vectorWeight')::double precision * coalesce(v.share, 1) end
         end as fused,
         k.score, v.score
    from keyword k full join nearest v using (id)
   order by fused desc, id
   limit page_size offset skipped
$$;

comment on function svc.search_hybrid(jsonb, text[], text, text, text, jsonb, jsonb, jsonb, integer, integer, boolean) is
  'Keys of the rows that keyword and vector search find, with the fused score and those of both, best first.';

grant execute on function svc.search_hybrid(jsonb, text[], text, text, text, jsonb, jsonb, jsonb, integer, integer, boolean)
  to svc_anonymous, svc_authenticated;
