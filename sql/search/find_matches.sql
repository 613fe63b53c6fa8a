-- The rows of a group that match a query best, by BM25 (k1 = 0.9, b = 0.4), best first. Called by svc.search_keyword().
--
-- SECURITY DEFINER, since no request reads the index. It answers for one group: a caller's own private rows, rows shared
-- with people who have an account, or public ones. What it gives are keys and scores, never rows; the caller's policies
-- decide about those in svc.search_keyword().
--
-- A document's score is the sum over the query's terms of
--   weight * tf / (tf + k1 * (1 - b + b * length / average)),  weight = n * ln(1 + (N - df + 0.5) / (df + 0.5)),
-- where n is how often the query has the term, and tf, length, average and df are those of the chosen fields, taken
-- together as one text. Each addend is less than its weight. That bounds the work (MaxScore): the rarest terms alone
-- find candidates; once the best of those have a score that the weights of all other terms together do not reach, no
-- document without a rare term can be among the best, and common terms are only looked up for candidates that can.

create or replace function svc.find_matches(
  target text,        -- schema and name, quoted as in svc_private.search_tables
  fields text[],
  query text,
  corpus text,
  visibility text,
  wanted integer,     -- null: all that match
  prefix boolean default false  -- the last word also finds what begins with it
)
returns table (row_id text, score double precision)
language plpgsql
stable
security definer
set search_path = ''
set jit = off
as $$
#variable_conflict use_column
declare
  k1 constant double precision := 0.9;
  b constant double precision := 0.4;
  most_terms constant integer := 256;  -- of a query; the rarest count
  most_endings constant integer := 32; -- of a prefix; the commonest count
  caller constant text := (select svc.current_user_id());
  indexed svc_private.search_tables;
  searched integer;
  places integer[];
  bits integer;
  documents double precision;
  average double precision;
  terms text[];
  weights double precision[];
  counts bigint[];
  few integer := 0;        -- how many of the rarest terms find candidates
  enough bigint := 4 * wanted::bigint;
  least double precision;  -- a score that `wanted` documents reach
  rest double precision;   -- what the other terms can add
  scoring text;
begin
  select * into indexed from svc_private.search_tables t where t.name = find_matches.target;
  if indexed.id is null then
    raise exception '% is not searchable in this database', find_matches.target
      using errcode = '55000', hint = 'Declare it with searchable(), then run svc codegen and svc migrate.';
  end if;
  places := array(
    select p.place::integer
      from (select distinct unnest(find_matches.fields) as field) as f
      left join jsonb_array_elements_text(indexed.definition -> 'fields') with ordinality as p (field, place) using (field)
  );
  if cardinality(places) = 0 or array_position(places, null) is not null then
    raise exception 'unknown field for a search in %', find_matches.target using errcode = '22023';
  end if;
  bits := (select bit_or(1 << (p - 1)) from unnest(places) as p);

  if caller is null and find_matches.visibility <> 'public' then
    return;
  end if;
  select g.id into searched from svc_private.search_groups g
   where g.table_id = indexed.id and g.corpus = find_matches.corpus and g.visibility = find_matches.visibility
     and g.owner_id is not distinct from case when find_matches.visibility = 'private' then caller end;

  select sum(t.documents), sum((select sum(t.lengths[p]) from unnest(places) as p))
    into documents, average
    from svc_private.search_totals t where t.group_id = searched;
  average := greatest(average / nullif(documents, 0), 1);

  select array_agg(q.term order by q.weight desc, q.term), array_agg(q.weight order by q.weight desc, q.term),
         array_agg(q.count order by q.weight desc, q.term)
    into terms, weights, counts
    from (
      select w.term, df.count, w.n * ln(1 + (documents - df.count + 0.5) / (df.count + 0.5)) as weight
        from (
          select t.term collate "C" as term, count(*) as n
            from svc_private.search_words(find_matches.query) as word
           cross join lateral svc_private.search_terms(word, (indexed.definition ->> 'language')::regconfig) as t (term)
           group by 1
          union all
          select * from svc_private.search_endings(searched, find_matches.query, most_endings)
           where find_matches.prefix
        ) as w
       cross join lateral (
         select sum(c.documents) as count from svc_private.search_counters c
          where c.group_id = searched and c.term = w.term and c.fields & bits <> 0
       ) as df
       where df.count > 0
       order by weight desc
       limit most_terms
    ) as q;
  if terms is null then
    return;
  end if;

  -- The score of one posting. Names of columns and numbers only; those as floats, since numeric takes many times as long.
  scoring := (
    select format('q.weight * (%1$s) / ((%1$s) + %2$s::double precision + %3$s::double precision * (%4$s))',
             string_agg(format('p.frequencies[%s]', place), ' + '), k1 * (1 - b), k1 * b / average,
             string_agg(format('p.lengths[%s]', place), ' + '))
      from unnest(places) as place
  );

  while few < cardinality(terms) loop
    if least is null then
      -- Terms with enough candidates among them, and with more each time that too many of those were the same.
      few := coalesce((
        select min(n) from (
          select n, sum(counts[n]) over (order by n) as candidates from generate_series(1, cardinality(terms)) as n
        ) as c
        where n > few and candidates >= enough
      ), cardinality(terms));
      enough := enough * 4;
    else
      few := (
        select min(n) from generate_series(few, cardinality(terms)) as n
         where coalesce((select sum(w) from unnest(weights[n + 1 :]) as w), 0) < least
      );
      exit;
    end if;
    exit when few = cardinality(terms);

    execute format($sql$
      select sum(%s) as score
        from unnest($1, $2) as q (term, weight)
        join svc_private.search_postings p on p.group_id = $3 and p.term = q.term
       group by p.document_id
       order by score desc
      offset $4 - 1 limit 1
    $sql$, scoring) into least using terms[: few], weights[: few], searched, wanted;
  end loop;
  rest := coalesce((select sum(w) from unnest(weights[few + 1 :]) as w), 0);

  return query execute format($sql$
    with candidate as materialized (
      select p.document_id as id, sum(%1$s) as score
        from unnest($1, $2) as q (term, weight)
        join svc_private.search_postings p on p.group_id = $3 and p.term = q.term
       group by 1
    )
    select d.row_id, c.score + coalesce(others.score, 0) as score
      from candidate c
      join svc_private.search_documents d on d.id = c.id
      left join lateral (
        select sum(%1$s) as score
          from unnest($4, $5) as q (term, weight)
          join svc_private.search_postings p on p.group_id = $3 and p.term = q.term and p.document_id = c.id
      ) as others on $6 > 0
     where c.score > 0 and c.score + $6 >= $7
     order by 2 desc, 1
     limit $8
  $sql$, scoring)
  using terms[: few], weights[: few], searched, terms[few + 1 :], weights[few + 1 :], rest, coalesce(least, 0), wanted;
end
$$;

comment on function svc.find_matches(text, text[], text, text, text, integer, boolean) is
  'Keys of the rows of a corpus and visibility that match a query, with their BM25 scores, best first.';

grant execute on function svc.find_matches(text, text[], text, text, text, integer, boolean) to svc_anonymous, svc_authenticated, svc_system;
