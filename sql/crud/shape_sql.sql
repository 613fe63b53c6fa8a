-- The filters of a shape as SQL, for svc.list_statement(): as svc_hidden.filter_sql(), with parameters instead of values.
--
-- `shape` is an array of conditions, which are joined by AND. Each is a group of such arrays, {"OR": [[…], […]]} or
-- {"AND": [[…], […]]}, or {"column", "op", "at"}: a property, an operator and the number of its parameter. Without `at`
-- it compares with null.
--
-- Names come from `columns`, operators from svc_hidden.condition_sql(). A shape with anything else is null.

create or replace function svc_hidden.shape_sql(columns jsonb, shape jsonb)
returns text
language plpgsql
stable
as $$
declare
  condition jsonb;
  col jsonb;
  cast_type text;
  part text;
  parts text[] := '{}';
begin
  for condition in select e.value from jsonb_array_elements(shape) as e loop
    if condition ? 'OR' or condition ? 'AND' then
      select case when bool_and(m.sql is not null) then
               '(' || string_agg('(' || m.sql || ')', case when condition ? 'OR' then ' or ' else ' and ' end) || ')' end
        into part
        from (
          select svc_hidden.shape_sql(columns, e.member) as sql
            from jsonb_array_elements(coalesce(condition -> 'OR', condition -> 'AND')) as e (member)
        ) as m;
    else
      col := columns -> (condition ->> 'column');
      cast_type := svc_hidden.filter_type(col);
      part := format('t.%I', col ->> 'name');
      part := case
        when condition ? 'at' and cast_type is null then null  -- compared by its text
        when condition ? 'at' then
          svc_hidden.condition_sql(condition ->> 'op', part, '$' || (condition -> 'at')::integer, cast_type)
        else part || case condition ->> 'op' when 'eq' then ' is not distinct from null' when 'ne' then ' is distinct from null' end
      end;
    end if;
    if part is null then
      return null;
    end if;
    parts := parts || part;
  end loop;
  return array_to_string(parts, ' and ');
end
$$;

comment on function svc_hidden.shape_sql(jsonb, jsonb) is
  'The filters of a shape as a boolean SQL expression over t with parameters, or null. Part of svc.list_statement(). '
  'lint:allow function_without_search_path: it runs under that of its caller; its text names no function of a schema.';

grant execute on function svc_hidden.shape_sql(jsonb, jsonb) to svc_request, svc_anonymous, svc_authenticated;
