-- The elements of a JSON array as filter_value() returns them, JSON nulls as nulls. Null when it is not an array, or any
-- element does not have the column's form; an error when it has more than 1,000. Called by filter_condition().
--
-- All or nothing: `in` without one of its values would find fewer rows than requested, `nin` more.

create or replace function svc_hidden.filter_values(col jsonb, value jsonb)
returns text[]
language plpgsql
stable
as $$
declare
  contents text[];
  valid boolean;
begin
  if jsonb_typeof(value) <> 'array' then
    return null;
  end if;
  -- Counted first, so that 10,000 elements cost no time.
  if jsonb_array_length(value) > 1000 then
    perform svc_hidden.refuse_filter('have a list of more than 1,000 values');
  end if;

  select coalesce(array_agg(c.content), '{}'), coalesce(bool_and(c.content is not null or c.is_null), true)
    into contents, valid
    from (
      select svc_hidden.filter_value(col, e.element) as content, jsonb_typeof(e.element) = 'null' as is_null
        from jsonb_array_elements(value) as e (element)
      offset 0  -- a sub-select of its own, or filter_value() would run twice
    ) as c;
  return case when valid then contents end;
end
$$;

comment on function svc_hidden.filter_values(jsonb, jsonb) is
  'A JSON array of filter values as text, or null if any of them does not have the column''s form. Part of '
  'svc_hidden.filter_sql(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_values(jsonb, jsonb) to svc_request, svc_anonymous, svc_authenticated, svc_system;
