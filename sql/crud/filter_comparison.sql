-- The condition that compares a column with one value, or null. Called by svc_hidden.filter_condition().
--
-- A comparison of order takes a number or a date (rule 2).

create or replace function svc_hidden.filter_comparison(col jsonb, op text, value jsonb, subject text, cast_type text)
returns text
language plpgsql
stable
as $$
declare
  content text;
begin
  if op not in ('eq', 'ne')
      and col ->> 'kind' not in ('integer', 'bigint', 'number', 'numeric', 'timestamp', 'date') then
    return null;
  end if;
  content := svc_hidden.filter_value(col, value);
  if content is null then
    return null;
  end if;
  return svc_hidden.condition_sql(op, subject, quote_literal(content), cast_type);
end
$$;

comment on function svc_hidden.filter_comparison(jsonb, text, jsonb, text, text) is
  'Condition of a filter by one value. Part of svc_hidden.filter_condition(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_comparison(jsonb, text, jsonb, text, text)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
