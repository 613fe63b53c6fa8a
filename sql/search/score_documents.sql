-- Scores documents of the index for a query, and returns the best. Called by svc_private.find_matches() and
-- svc_private.find_best(), which find the documents. find_matches() has the formula of the score.
--
-- Documents are read by their positions in the table (ctid), or are all that have a term of the query: this statement is
-- always the same and keeps its plan. Numbers are floats, because numeric takes many times as long.

create or replace function svc_private.score_documents(
  asked svc_private.search_query,
  positions tid[],  -- null: all documents of the group with a term of the query
  wanted integer,  -- null: all
  out row_ids text[],
  out scores double precision[]
)
language plpgsql
stable
as $$
#variable_conflict use_column
declare
  bits constant integer := asked.bits;
  fields constant bigint := (1 << asked.width) - 1;
  field_weights constant integer[] := asked.field_weights;  -- null: all fields count alike
  powers constant bigint[] := '{1,2,4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768}';  -- the bit of each field
  fixed constant double precision := asked.k1 * (1 - asked.b);
  slope constant double precision := asked.k1 * asked.b / asked.average;
begin
  select array_agg(s.row_id order by s.score desc, s.row_id), array_agg(s.score order by s.score desc, s.row_id)
    into row_ids, scores
    from (
      select d.row_id, s.score
        from (
          select p.* from svc_private.search_documents p where p.ctid = any (positions)
          union all
          select k.* from svc_private.search_documents k
           where positions is null and k.group_id = asked.group_id and k.keys && asked.keys
        ) as d
       cross join lateral (
         -- Appending null unpacks an array once; otherwise each look at it would do so again.
         select d.keys || null::bigint[] as keys, fixed + slope * (select sum(d.lengths[p]) from unnest(asked.places) as p) as norm
         offset 0
       ) as x
       cross join lateral (
         select sum(q.weight * f.tf / (f.tf + x.norm)) as score
           from unnest(asked.lows, asked.highs, asked.weights) as q (low, high, weight)
          cross join lateral (select x.keys[width_bucket(q.high, x.keys)] as key offset 0) as k
          cross join lateral (
            select case
                when (k.key >> 8) & bits = 0 then 0
                -- The key tells the frequency: one field, and a class of 1, 2, 3 or 4.
                when k.key & 128 = 0 and ((k.key >> 8) & fields) & (((k.key >> 8) & fields) - 1) = 0 then
                  (((k.key & 255) >> 5) + 1)
                    * case when field_weights is null then 1 else field_weights[width_bucket((k.key >> 8) & fields, powers)] end
                else (
                  select sum((o & 4294967295) * case when field_weights is null then 1 else field_weights[1 + ((o >> 32) & 15)::integer] end)
                    from unnest(d.others) as o
                   where o >> 36 = width_bucket(q.high, x.keys) and bits & (1 << ((o >> 32) & 15)::integer) <> 0
                )
              end::double precision as tf
            offset 0
          ) as f
          where k.key >= q.low and f.tf > 0
       ) as s
       where s.score > 0
       order by s.score desc, d.row_id limit wanted
    ) as s;
end
$$;

comment on function svc_private.score_documents(svc_private.search_query, tid[], integer) is
  'The best of the given documents of the index for a query. Part of svc_private.find_matches(). '
  'lint:allow function_without_search_path: it runs under that of svc_private.find_matches().';
