-- The condition on an array column, or null. Arrays compare as a whole, as JSON: elements without a type for their values as the
-- text that the wire shows. Called by svc_hidden.filter_condition().

create or replace function svc_hidden.filter_array(col jsonb, op text, value jsonb, subject text, cast_type text)
returns text
language plpgsql
stable
as $$
declare
  contents text[];
begin
  if op in ('eq', 'ne') then
    contents := svc_hidden.filter_values(col, value);
  end if;
  if contents is null then
    return null;
  end if;
  return format(
    case when cast_type is null then
      -- Not unnest(), which makes columns of the members of composite values.
      'case when %1$s is not null then (select coalesce(jsonb_agg(svc_hidden.wire_text((%1$s)[i]) order by i), ''[]'')
        from generate_subscripts(%1$s, 1) as i) end'
    else 'to_jsonb(%1$s)' end || ' %2$s (select to_jsonb(%3$L::%4$s[]))',  -- the sub-select is evaluated once, not per row
    subject, case op when 'eq' then '=' else 'is distinct from' end, contents, coalesce(cast_type, 'text')
  );
end
$$;

comment on function svc_hidden.filter_array(jsonb, text, jsonb, text, text) is
  'Condition of a filter on an array column. Part of svc_hidden.filter_condition(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_array(jsonb, text, jsonb, text, text)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
