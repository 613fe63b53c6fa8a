-- The condition on an array column, or null. Arrays compare as a whole, as JSON. Called by
-- svc_hidden.filter_condition().

create or replace function svc_hidden.filter_array(col jsonb, op text, value jsonb, subject text, cast_type text)
returns text
language plpgsql
stable
as $$
declare
  contents constant text[] := svc_hidden.filter_values(col, value);
begin
  if op not in ('eq', 'ne') or contents is null then
    return null;
  end if;
  return format(
    'to_jsonb(%s) %s (select to_jsonb(%L::%s[]))',  -- the sub-select is evaluated once, not per row
    subject, case op when 'eq' then '=' else 'is distinct from' end, contents, cast_type
  );
end
$$;

comment on function svc_hidden.filter_array(jsonb, text, jsonb, text, text) is
  'Condition of a filter on an array column. Part of svc_hidden.filter_condition(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_array(jsonb, text, jsonb, text, text)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
