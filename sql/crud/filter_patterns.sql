-- The number of `like` and `ilike` patterns in a filter, and their characters together. Called by filter_sql(), which
-- refuses filters with too many.
--
-- A pattern is compared with the text of every row that the other conditions leave, in time proportional to the text's
-- length: 400 of them kept a connection busy for 15 s, and ten such calls every connection of the pool. Other
-- conditions take a fixed, small time. Only patterns that filter_condition() would turn into a condition are counted.

create or replace function svc_hidden.filter_patterns(columns jsonb, filters jsonb, out patterns bigint, out characters bigint)
language sql
stable
as $$
  with recursive objects (object, columns, level) as (
    select filters, columns, 0
    union all
    select m.object, m.columns, o.level + 1
      from objects as o
      cross join lateral (
        -- Strict and silent as in filter_size().
        select g.member, o.columns
          from (values ('strict $.OR[*]'::jsonpath), ('strict $.AND[*]')) as p (path)
          cross join jsonb_path_query(o.object, p.path, '{}', true) as g (member)
        union all
        select f.member, f.columns
          from jsonb_path_query(o.object, 'strict $.keyvalue()', '{}', true) as c (pair)
          cross join svc_hidden.filter_members(o.columns -> (c.pair ->> 'key'), c.pair -> 'value') as f
         where o.columns -> (c.pair ->> 'key') ? 'to'
      ) as m (object, columns)
     where o.level < 5
  )
  select count(*), coalesce(sum(length(c.pair #>> '{value,value}')), 0)
    from objects as o
    cross join jsonb_path_query(o.object, 'strict $.keyvalue()', '{}', true) as c (pair)
   where o.columns -> (c.pair ->> 'key') ->> 'kind' = 'text'
     and not coalesce((o.columns -> (c.pair ->> 'key') -> 'array')::boolean, false)
     and c.pair -> 'value' ->> 'op' in ('like', 'ilike')
     and jsonb_typeof(c.pair #> '{value,value}') = 'string'
     and length(c.pair #>> '{value,value}') <= 1000
$$;

comment on function svc_hidden.filter_patterns(jsonb, jsonb) is
  'Number of patterns in a filter, and of their characters. Part of svc_hidden.filter_sql(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_patterns(jsonb, jsonb)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
