-- Hybrid search: ctx.hybridSearch (src/search/context.ts). Both legs and their fusion are one statement.
--
-- rrf (reciprocal rank fusion) adds weight / (k + rank) over the legs, and uses ranks alone. A leg whose candidates
-- score nearly the same counts as much as one with clear differences, which makes the better leg's result worse.
--
-- convex adds the scores. Words are scaled by their best candidate, vectors to 0 to 1 between their worst and their best
-- candidate. Both are raised to the third power, so that the few candidates near the top decide.
--
-- Vectors always have a nearest row, whether it is relevant or not. So words have the weight 1, and vectors a weight of
-- 0.15 times the power 1.5 of their contrast over that of the words, 1 at most. A leg's contrast is its best candidate over its worst,
-- measured from its zero. For words that is 0. For vectors, whose cosines may all lie at 0.8, it is the similarity of
-- texts that only the words found. Without such texts the contrasts count as equal. The result is divided by the highest
-- possible value: 1 means best in both legs. docs/adr/0026-weights-that-hold-elsewhere.md has the measurements.

create or replace function svc.search_hybrid(
  target jsonb,       -- {table}: the name of a searchable table
  fields text[],
  query text,
  vector_field text,
  vector text,
  scope jsonb,
  filters jsonb,
  tuning jsonb,       -- {keywordCandidateLimit, vectorCandidateLimit, mode: rrf | convex, k, keywordWeight, vectorWeight, feedback?}
  page_size integer,
  skipped integer,
  prefix boolean default false  -- the last word is also a prefix
)
returns table (id text, fused double precision, keyword double precision, vector_score double precision)
language plpgsql  -- keeps its plan; an SQL function plans in each call
volatile          -- as svc.search_vector() is
set search_path = ''
set plan_cache_mode = force_generic_plan  -- making a plan in each call takes up to a millisecond
as $$
#variable_conflict use_column
begin
  return query
  with keyword as materialized (
    select k.id, k.score, row_number() over (order by k.score desc, k.id) as rank,
           power(k.score / max(k.score) over (), 3) as share
      from svc.search_keyword(target, fields, query, scope, filters, (tuning ->> 'keywordCandidateLimit')::integer, 0, prefix,
             tuning -> 'feedback') as k
  ), nearest as materialized (
    select v.id, v.score, row_number() over (order by v.score desc, v.id) as rank,
           -- If all candidates have the same score, each of them counts as the best.
           coalesce(power((v.score - min(v.score) over ()) / nullif(max(v.score) over () - min(v.score) over (), 0), 3), 1) as share
      from svc.search_vector(target, vector_field, vector, scope, filters, (tuning ->> 'vectorCandidateLimit')::integer, 0) as v
  ), apart as (
    -- At most ten, those with the lowest keyword scores. They are read by their keys.
    select avg(a.score) as score
      from svc_hidden.search_cosines(target, vector_field, vector, array(
             select k.id from keyword k
              where tuning ->> 'mode' is distinct from 'rrf' and not exists (select from nearest v where v.id = k.id)
              order by k.rank desc limit 10)) as a
  ), emphasis as (
    -- 0 for a leg without candidates.
    select case when k.best is null then 0 else (tuning ->> 'keywordWeight')::double precision end as keyword,
           case when v.best is null then 0 else (tuning ->> 'vectorWeight')::double precision
             * svc_hidden.weight_of_vectors(k.best, k.worst, v.best, v.worst, a.score) end as vector
      from (select max(score) as best, min(score) as worst from keyword) as k
     cross join (select max(score) as best, min(score) as worst from nearest) as v
     cross join apart a
  )
  select id,
         case tuning ->> 'mode'
           when 'rrf' then
             coalesce((tuning ->> 'keywordWeight')::double precision / ((tuning ->> 'k')::double precision + k.rank), 0)
             + coalesce((tuning ->> 'vectorWeight')::double precision / ((tuning ->> 'k')::double precision + v.rank), 0)
           else
             -- If only a leg of weight 0 finds rows, their score is 0.
             coalesce((e.keyword * coalesce(k.share, 0) + e.vector * coalesce(v.share, 0)) / nullif(e.keyword + e.vector, 0), 0)
         end as fused,
         k.score, v.score
    from keyword k full join nearest v using (id) cross join emphasis e
   order by fused desc, id
   limit page_size offset skipped;
end
$$;

comment on function svc.search_hybrid(jsonb, text[], text, text, text, jsonb, jsonb, jsonb, integer, integer, boolean) is
  'Keys of the rows that keyword and vector search find, with the fused score and those of both, best first.';

grant execute on function svc.search_hybrid(jsonb, text[], text, text, text, jsonb, jsonb, jsonb, integer, integer, boolean)
  to svc_anonymous, svc_authenticated;
