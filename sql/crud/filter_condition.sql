-- One condition, `column: input`, as SQL, or null when it is to be ignored. Called by svc_hidden.filter_sql(),
-- svc_hidden.ignored_filter() and svc_hidden.search_condition().
--
-- `col` is the column's description from the allow-list; `input` a value (rule 1: equality) or `{op, value}` (rule 2).
-- docs/reference/filters.md lists the operators of each kind.

create or replace function svc_hidden.filter_condition(col jsonb, input jsonb)
returns text
language plpgsql
stable
as $$
declare
  kind constant text := col ->> 'kind';
  is_array constant boolean := coalesce((col -> 'array')::boolean, false);
  subject text;
  cast_type text;
  op text := 'eq';
  value jsonb := input;
begin
  if col is null then
    return null;
  end if;

  -- Step 1: the operator. An object with `op` is an operator, whatever other members it has. An object that does not
  -- name an operator is a value, and only a json column has such values.
  if jsonb_typeof(input) = 'object' then
    if input ->> 'op' in ('eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'like', 'ilike') then
      op := input ->> 'op';
      value := input -> 'value';
    elsif kind <> 'json' then
      return null;
    end if;
  end if;
  if value is null then
    return null;  -- {op} without a value
  end if;

  subject := format('t.%I', col ->> 'name');

  -- Step 2: null. "eq null" matches missing values: `= null` would find nothing, and `is null` also a composite value
  -- whose members are all null. A missing value has no order and no pattern.
  if value = 'null' then
    return subject || case op when 'eq' then ' is not distinct from null' when 'ne' then ' is distinct from null' end;
  end if;

  if col ->> 'type' like '%[][]' then
    return null;  -- an array of arrays is only compared with null
  end if;

  if kind = 'json' then
    return svc_hidden.filter_json(is_array, op, value, subject);
  end if;

  -- Step 3: the types of both sides. A column without a type for its values is compared by its text, as the wire shows
  -- it: a cast to text differs for some types, 10.0.0.1 would become 10.0.0.1/32.
  cast_type := svc_hidden.filter_type(col);
  if is_array then
    return svc_hidden.filter_array(col, op, value, subject, cast_type);
  elsif cast_type is null then
    cast_type := 'text';
    subject := format('svc_hidden.wire_text(%s)', subject);
  elsif kind in ('integer', 'bigint') and svc_hidden.filter_exceeds(col, value) then
    col := '{"kind": "numeric"}';
    cast_type := 'numeric';
    subject := subject || '::numeric';
  end if;

  -- Step 4: the condition.
  return case
    when op in ('in', 'nin') then svc_hidden.filter_list(col, op, value, subject, cast_type)
    when op in ('like', 'ilike') then svc_hidden.filter_pattern(kind, op, value, subject)
    else svc_hidden.filter_comparison(col, op, value, subject, cast_type)
  end;
end
$$;

comment on function svc_hidden.filter_condition(jsonb, jsonb) is
  'One condition of a filter as SQL over t, or null if it must be ignored. Part of svc_hidden.filter_sql(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_condition(jsonb, jsonb)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
