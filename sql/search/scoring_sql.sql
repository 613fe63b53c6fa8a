-- The statement that scores documents, for svc_private.find_matches() and svc_private.find_best(). format() puts in a
-- condition on svc_private.search_documents, named d, and how many documents may be opened. Parameters: $1 to $4 are lows,
-- highs, terms and weights of a svc_private.search_query, $5 is its group.
--
-- Only numbers are put into the text, as floats, because numeric takes many times as long.

create or replace function svc_private.scoring_sql(
  places integer[],
  average double precision,
  k1 double precision,
  b double precision,
  wanted integer
)
returns text
language plpgsql
stable
as $$
begin
  return (
    select format($sql$
      select array_agg(s.row_id order by s.score desc, s.row_id), array_agg(s.score order by s.score desc, s.row_id)
        from (
          select d.row_id, s.score
            from (select * from svc_private.search_documents d where d.group_id + 0 = $5 and (%%s) limit %%s) as d
           cross join lateral (
             -- Appending null unpacks an array once; otherwise each look at it would do so again.
             select d.keys || null::bigint[] as keys, d.terms || null::text[] as terms,
                    d.frequencies || null::integer[] as frequencies, %L::float8 + %L::float8 * (%s) as norm
             offset 0
           ) as x
           cross join lateral (
             select sum(q.weight * f.tf / (f.tf + x.norm)) as score
               from unnest($1, $2, $3, $4) as q (low, high, term, weight)
              cross join lateral (select width_bucket(q.high, x.keys) as place offset 0) as p
              cross join lateral (select %s as tf offset 0) as f
              where x.keys[p.place] >= q.low and x.terms[p.place] = q.term
           ) as s
           where s.score > 0
           order by s.score desc, d.row_id limit %s
        ) as s
      $sql$,
      k1 * (1 - b), k1 * b / average, string_agg(format('d.lengths[%s]', place), ' + '),
      string_agg(format('x.frequencies[p.place][%s]', place), ' + '), coalesce(wanted::text, 'all'))
      from unnest(places) as place
  );
end
$$;

comment on function svc_private.scoring_sql(integer[], double precision, double precision, double precision, integer) is
  'The statement that scores documents. Part of svc_private.find_matches(). '
  'lint:allow function_without_search_path: it runs under that of svc_private.find_matches().';
