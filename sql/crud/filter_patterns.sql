-- The number of `like` and `ilike` patterns in a filter, and their characters together. Called by filter_sql(), which
-- ignores filters with too many.
--
-- A pattern is compared with the text of every row that the other conditions leave, in time proportional to the text's
-- length: 400 of them kept a connection busy for 15 s, and ten such calls every connection of the pool. Other
-- conditions take a fixed, small time. Only patterns that filter_condition() would turn into a condition are counted.

create or replace function svc_hidden.filter_patterns(columns jsonb, filters jsonb, out patterns bigint, out characters bigint)
language sql
immutable
as $$
  with recursive objects (object, level) as (
    select filters, 0
    union all
    -- Strict and silent as in filter_size().
    select m.member, o.level + 1
      from objects as o
      cross join (values ('strict $.OR[*]'::jsonpath), ('strict $.AND[*]')) as g (path)
      cross join jsonb_path_query(o.object, g.path, '{}', true) as m (member)
     where o.level < 5
  )
  select count(*), coalesce(sum(length(c.pair #>> '{value,value}')), 0)
    from objects as o
    cross join jsonb_path_query(o.object, 'strict $.keyvalue()', '{}', true) as c (pair)
   where columns -> (c.pair ->> 'key') ->> 'kind' = 'text'
     and not coalesce((columns -> (c.pair ->> 'key') -> 'array')::boolean, false)
     and c.pair -> 'value' ->> 'op' in ('like', 'ilike')
     and jsonb_typeof(c.pair #> '{value,value}') = 'string'
     and length(c.pair #>> '{value,value}') <= 1000
$$;

comment on function svc_hidden.filter_patterns(jsonb, jsonb) is
  'Number of patterns in a filter, and of their characters. Part of svc_hidden.filter_sql(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_patterns(jsonb, jsonb)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
