-- The condition on a json column, or null. Values compare as a whole. Called by svc_hidden.filter_condition().

create or replace function svc_hidden.filter_json(is_array boolean, op text, value jsonb, subject text)
returns text
language plpgsql
stable
as $$
begin
  -- A value deeper than the wire allows (64) is refused here too: PostgreSQL reads the value once more, with less stack
  -- left.
  if op not in ('eq', 'ne') or (is_array and jsonb_typeof(value) <> 'array') or jsonb_path_exists(value, '$.**{65}') then
    return null;
  end if;
  return format('to_jsonb(%s) %s %L::jsonb', subject, case op when 'eq' then '=' else 'is distinct from' end, value);
end
$$;

comment on function svc_hidden.filter_json(boolean, text, jsonb, text) is
  'Condition of a filter on a json column. Part of svc_hidden.filter_condition(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_json(boolean, text, jsonb, text)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
