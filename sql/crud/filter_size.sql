-- The number of keys in the objects of a filter, groups included: an upper bound of its number of conditions. Called by
-- filter_sql() for large filters, which refuses those with more than 5,000.
--
-- Planning time grows with the square of the number of conditions: 20,000 pairs under an AND fit in 1 MiB and kept a
-- core busy for 17 s. Values are not counted; a list of 1,000 or a large JSON document is one constant.

create or replace function svc_hidden.filter_size(filters jsonb)
returns bigint
language sql
immutable
as $$
  with recursive objects (object, level) as (
    select filters, 0
    union all
    -- Strict, so that an array in place of an object is not unwrapped; silent, so that it is not an error.
    select m.member, o.level + 1
      from objects as o
      cross join (values ('strict $.OR[*]'::jsonpath), ('strict $.AND[*]')) as g (path)
      cross join jsonb_path_query(o.object, g.path, '{}', true) as m (member)
     where o.level < 5
  )
  select count(*) from objects as o, jsonb_path_query(o.object, 'strict $.keyvalue()', '{}', true)
$$;

comment on function svc_hidden.filter_size(jsonb) is
  'Number of keys in the objects of a filter, an upper bound of its conditions. Part of svc_hidden.filter_sql(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_size(jsonb) to svc_request, svc_anonymous, svc_authenticated, svc_system;
