-- For which values one plan serves: how far PostgreSQL's estimate for a value is from the one that it makes without
-- knowing the value. The service asks as svc_system, once a minute for a resource that is filtered (src/crud/kept-plans.ts),
-- and keeps the plan of a filtered list where the two are near each other. Otherwise the list is planned for its values.
--
-- The result has a member for each column: {"others": factor, "listed": {value: factor}}. A factor is 1 where the estimates
-- are equal, and 500 where one is 500 times the other. `listed` are the most common values, `others` is for all the rest.
--
-- A column is left out where statistics cannot tell, and then its lists are planned for their values:
--   - it was never analyzed, or values are only estimated to be rare;
--   - its most common values cannot be recognized by their text, as those of numeric and citext;
--   - the predicate of a partial index names it: PostgreSQL takes such an index only if it knows the value;
--   - extended statistics name it: they are used only for known values.
--
-- The result names values of rows of all users. So only svc_system may call it, and it never leaves the process.
-- The formulas are those of eqsel(): https://www.postgresql.org/docs/current/row-estimation-examples.html

create or replace function svc.value_factors(target regclass, columns text[])
returns jsonb
language sql
stable
set search_path = ''
as $$
  select coalesce(jsonb_object_agg(e.name, jsonb_build_object(
           'others', greatest(e.others / e.unknown, e.unknown / e.others),
           'listed', (
             select coalesce(jsonb_object_agg(
                      case when e.is_boolean then m.value::boolean::text else m.value end,
                      greatest(m.share / e.unknown, e.unknown / m.share)
                    ), '{}')
               from unnest(e.common, e.shares) as m (value, share)
           )
         )), '{}')
    from (
      -- The estimate for a value that is not known, and for one that is not among the most common ones.
      select s.name, s.is_boolean, s.common, s.shares,
             least((1 - s.null_frac) / s.different, s.shares[1]) as unknown,
             case when s.rest > 0.000001 then
               least(s.rest / greatest(s.different - cardinality(s.shares), 1), s.shares[cardinality(s.shares)]) end as others
        from (
          select a.attname as name,
                 a.atttypid = 'boolean'::regtype as is_boolean,
                 s.null_frac,
                 coalesce(s.most_common_vals::text::text[], '{}') as common,
                 coalesce(s.most_common_freqs, '{}') as shares,
                 case when s.n_distinct < 0 then -s.n_distinct * c.reltuples else s.n_distinct end as different,
                 1 - s.null_frac - coalesce((select sum(f) from unnest(s.most_common_freqs) as f), 0) as rest
            from pg_class as c
            join pg_namespace as n on n.oid = c.relnamespace
            join pg_attribute as a on a.attrelid = c.oid and a.attname = any (columns)
            join pg_type as t on t.oid = a.atttypid
            join pg_stats as s on s.schemaname = n.nspname and s.tablename = c.relname and s.attname = a.attname
             and s.inherited = (c.relkind = 'p')
           where c.oid = target and c.reltuples > 0 and not (c.relhassubclass and c.relkind <> 'p')
             and (s.most_common_vals is null or (
               (t.typtype = 'e' or a.atttypid = any ('{text,varchar,smallint,integer,bigint,boolean,uuid}'::regtype[]))
               and not exists (select from pg_collation as l where l.oid = a.attcollation and not l.collisdeterministic)
               and cardinality(s.most_common_freqs) <= 1000
             ))
             and not exists (
               select from pg_index as i
                where i.indrelid = c.oid and position(format(':varattno %s ', a.attnum) in i.indpred::text) > 0)
             and not exists (select from pg_statistic_ext as x where x.stxrelid = c.oid and a.attnum = any (x.stxkeys))
        ) as s
       where s.different >= 1 and s.null_frac < 1
    ) as e
$$;

comment on function svc.value_factors(regclass, text[]) is
  'By column and value: how far the planner''s estimate for the value is from the one without it. Called by the service.';

grant execute on function svc.value_factors(regclass, text[]) to svc_system;
