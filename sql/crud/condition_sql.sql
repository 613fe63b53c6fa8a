-- One condition as SQL: what each operator of the filter language is in SQL for a column with one value. `given` is the
-- right side, a quoted literal or a parameter such as $3; for `in` and `nin` it is an array without nulls.
--
-- There is no operator `contains`: callers send `ilike` with `%` on both sides, or use `search` (svc_hidden.search_sql). Null,
-- and columns of JSON and of arrays, are compared in filter_condition.sql, filter_json.sql and filter_array.sql.
--
-- `ne` and `nin` keep rows without a value, which <> and NOT IN would drop.
--
-- A new operator also needs: its name and its kinds of columns in filter_condition.sql, src/crud/read-shape.ts,
-- src/crud/crud-filters.ts (types, names) and src/crud/openapi-columns.ts; and a case in tests/crud/reference-filter.ts, with
-- which tests compare random filters.

create or replace function svc_hidden.condition_sql(op text, subject text, given text, cast_type text)
returns text  -- null for another operator
language sql
immutable
as $$
  select case
    when op = 'in' then format('%s = any (%s::%s[])', subject, given, cast_type)
    when op = 'nin' then format('(%s = any (%s::%s[])) is not true', subject, given, cast_type)
    when op in ('like', 'ilike') then format('%s %s %s::text', subject, op, given)
    else subject || case op when 'eq' then ' = ' when 'ne' then ' is distinct from ' when 'gt' then ' > '
      when 'gte' then ' >= ' when 'lt' then ' < ' when 'lte' then ' <= ' end || given || '::' || cast_type
  end
$$;

comment on function svc_hidden.condition_sql(text, text, text, text) is
  'What an operator of the filter language is in SQL. Part of svc_hidden.filter_sql() and svc.list_statement(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.condition_sql(text, text, text, text)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
