-- Hybrid search: ctx.hybridSearch (src/search/context.ts). Both legs and their fusion are one statement.
--
-- rrf (reciprocal rank fusion) adds weight / (k + rank) over the legs, and looks at ranks alone: a leg that hardly tells
-- its candidates apart counts as much as one that is sure, and the better leg suffers.
--
-- convex keeps distances. Each leg's scores are brought to 0 to 1 between its worst and its best candidate and squared, and
-- divided by the power 1.25 of their sum: what a leg gives to each of many near its best is little, what it gives to a few
-- that stand out is much. None is taken for surer than one with three that are alike, lest a rare word that hardly matters
-- decide alone.
--
-- Vectors always have a nearest, whether they know anything or not. How far it stands out is counted from the zero of the
-- leg: 0 for words; for vectors, whose cosines may all lie at 0.8, what they give to texts that only the words found. Best
-- over worst candidate, so counted, is the leg's contrast. Vectors count 0.35 times the square of their contrast over that
-- of the words, 2 at most; as much as words where there is no such text. The result is divided by the most there can be:
-- 1 is the best of both. docs/explanation/search.md says what this was measured with, and where it falls short.

create or replace function svc.search_hybrid(
  target jsonb,       -- {table}: the name of a searchable table
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
language plpgsql  -- which keeps the plan; an SQL function makes it anew in each call
volatile          -- as svc.search_vector() is
set search_path = ''
as $$
#variable_conflict use_column
begin
  return query
  with keyword as materialized (
    select k.id, k.score, row_number() over (order by k.score desc, k.id) as rank,
           -- All candidates of a leg alike: each of them is its best.
           coalesce(power((k.score - min(k.score) over ()) / nullif(max(k.score) over () - min(k.score) over (), 0), 2), 1) as share
      from svc.search_keyword(target, fields, query, scope, filters, (tuning ->> 'keywordCandidateLimit')::integer, 0, prefix) as k
  ), nearest as materialized (
    select v.id, v.score, row_number() over (order by v.score desc, v.id) as rank,
           coalesce(power((v.score - min(v.score) over ()) / nullif(max(v.score) over () - min(v.score) over (), 0), 2), 1) as share
      from svc.search_vector(target, vector_field, vector, scope, filters, (tuning ->> 'vectorCandidateLimit')::integer, 0) as v
  ), apart as (
    -- Ten at most, the worst that the words found: they are read by their keys.
    select avg(a.score) as score
      from svc.search_cosines(target, vector_field, vector, array(
             select k.id from keyword k
              where tuning ->> 'mode' is distinct from 'rrf' and not exists (select from nearest v where v.id = k.id)
              order by k.rank desc limit 10)) as a
  ), trust as (
    select case when a.score is null then 1
                else least(2, 0.35 * power(greatest(v.best - a.score, 0)
                       / nullif(greatest(v.worst - a.score, (v.best - v.worst) / 10), 0)
                       / nullif(k.best / nullif(k.worst, 0), 0), 2)) end as vector
      from (select max(score) as best, min(score) as worst from keyword) as k
     cross join (select max(score) as best, min(score) as worst from nearest) as v
     cross join apart a
  ), emphasis as (
    select coalesce((select (tuning ->> 'keywordWeight')::double precision / power(greatest(sum(k.share), 3), 1.25)
                       from keyword k having count(*) > 0), 0) as keyword,
           coalesce((select (tuning ->> 'vectorWeight')::double precision / power(greatest(sum(v.share), 3), 1.25)
                       from nearest v having count(*) > 0), 0) * (select t.vector from trust t) as vector
  )
  select id,
         case tuning ->> 'mode'
           when 'rrf' then
             coalesce((tuning ->> 'keywordWeight')::double precision / ((tuning ->> 'k')::double precision + k.rank), 0)
             + coalesce((tuning ->> 'vectorWeight')::double precision / ((tuning ->> 'k')::double precision + v.rank), 0)
           else
             -- A leg of weight 0 alone finds what is worth 0.
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
