-- The condition of `in` and `nin`, or null. Called by svc_hidden.filter_condition().
--
-- One array literal instead of a list: the parser sees one constant, whatever the number of values. A comparison with an
-- empty array is false, so `in []` finds nothing and `nin []` everything, without code for these cases.

create or replace function svc_hidden.filter_list(col jsonb, op text, value jsonb, subject text, cast_type text)
returns text
language plpgsql
stable
as $$
declare
  contents constant text[] := svc_hidden.filter_values(col, value);
  is_one text;
begin
  if contents is null then
    return null;
  elsif array_position(contents, null) is null then
    return svc_hidden.condition_sql(op, subject, quote_literal(contents), cast_type);
  end if;
  is_one := svc_hidden.condition_sql('in', subject, quote_literal(array_remove(contents, null)), cast_type);
  return format(
    case op when 'in' then '(%s or %s is not distinct from null)' else '((%s) is not true and %s is distinct from null)' end,
    is_one, subject
  );
end
$$;

comment on function svc_hidden.filter_list(jsonb, text, jsonb, text, text) is
  'Condition of a filter by a list of values. Part of svc_hidden.filter_condition(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_list(jsonb, text, jsonb, text, text)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
