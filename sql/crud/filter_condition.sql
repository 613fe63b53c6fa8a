-- One condition, `column: input`, as SQL, or null when it is to be ignored. Called by filter_sql().
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
  op text := 'eq';
  value jsonb := input;
  form text := jsonb_typeof(input);
  subject text;
  cast_type text;
  content text;
  contents text[];
  bounds jsonb;
begin
  if col is null then
    return null;
  end if;

  -- Rule 2: an object with `op` is an operator; further members do not matter. An object that does not name an operator
  -- is a value, and only a json column has such values.
  if form = 'object' then
    if input ->> 'op' in ('eq', 'ne', 'gt', 'gte', 'lt', 'lte', 'in', 'nin', 'like', 'ilike') then
      op := input ->> 'op';
      value := input -> 'value';
      form := jsonb_typeof(value);
    elsif kind <> 'json' then
      return null;
    end if;
  end if;
  if value is null then
    return null;  -- {op} without a value
  end if;

  subject := format('t.%I', col ->> 'name');

  -- "eq null" asks for missing values: `= null` would find nothing. A missing value has no order and no pattern.
  if form = 'null' then
    return case op when 'eq' then subject || ' is null' when 'ne' then subject || ' is not null' end;
  end if;

  -- Values of json and arrays compare as a whole, as JSON.
  if kind = 'json' then
    -- Deeper than the wire allows (64) is refused here too: PostgreSQL reads the value once more, with less stack left.
    if op not in ('eq', 'ne') or (is_array and form <> 'array') or jsonb_path_exists(value, '$.**{65}') then
      return null;
    end if;
    return format('to_jsonb(%s) %s %L::jsonb', subject, case op when 'eq' then '=' else 'is distinct from' end, value);
  end if;

  cast_type := svc_hidden.filter_type(col);
  if cast_type is null then
    cast_type := 'text';
    -- The text as the wire shows it; a cast to text differs for some types: 10.0.0.1 would become 10.0.0.1/32.
    if not is_array then
      subject := format('(to_jsonb(%s) #>> ''{}'')', subject);
    end if;
  end if;

  -- 2.5 and 3000000000 are numbers too where the column can hold neither: they are in its order, and equal none of its
  -- values. Compared as numeric, which no index serves. A larger number than a bigint takes has lost digits on its way.
  if kind in ('integer', 'bigint') and not is_array then
    bounds := case
      when kind = 'bigint' then '{"most": 9007199254740991, "high": 9007199254740991}'
      when col ->> 'type' ~ '(small|int2)' then '{"most": 1e999, "high": 32767}'
      else '{"most": 1e999, "high": 2147483647}'
    end;
    if jsonb_path_exists(value, '$[*] ? (@ != @.floor() || @ > $high || @ < -$high - 1)', bounds)
        and not jsonb_path_exists(
          value, '$[*] ? ((@.type() != "number" && @.type() != "null") || @ > $most || @ < -$most)', bounds)
    then
      col := '{"kind": "numeric"}';
      cast_type := 'numeric';
      subject := subject || '::numeric';
    end if;
  end if;

  if is_array then
    contents := svc_hidden.filter_values(col, value);
    if op not in ('eq', 'ne') or contents is null then
      return null;
    end if;
    return format(
      'to_jsonb(%s) %s (select to_jsonb(%L::%s[]))',  -- the sub-select is evaluated once, not per row
      subject, case op when 'eq' then '=' else 'is distinct from' end, contents, cast_type
    );
  end if;

  if op = 'in' or op = 'nin' then
    contents := svc_hidden.filter_values(col, value);
    if contents is null then
      return null;
    end if;
    -- One array literal instead of a list: the parser sees one constant, whatever the number of values. Comparing with
    -- an empty one gives false, so `in []` finds nothing and `nin []` everything without being a case of their own.
    content := format('%s = any (%L::%s[])', subject, array_remove(contents, null), cast_type);
    if array_position(contents, null) is null then
      -- nin keeps rows without a value, which SQL's NOT IN would drop: they are not among the values either.
      return case op when 'in' then content else format('(%s) is not true', content) end;
    end if;
    return format(
      case op when 'in' then '(%s or %s is null)' else '((%s) is not true and %s is not null)' end, content, subject
    );
  end if;

  if op = 'like' or op = 'ilike' then
    -- Text only, as the spec says "string". A pattern that ends in the escape character is an error to PostgreSQL, and
    -- so is one with so many wildcards that matching it exhausts the stack.
    if kind <> 'text' or form <> 'string' then
      return null;
    end if;
    content := value #>> '{}';
    if length(content) > 1000 or (right(content, 1) = '\' and length(substring(content from '\\+$')) % 2 = 1) then
      return null;
    end if;
    return format('%s %s %L::text', subject, op, content);
  end if;

  -- Rule 2: an order comparison takes a number or a date.
  if op not in ('eq', 'ne') and kind not in ('integer', 'bigint', 'number', 'numeric', 'timestamp', 'date') then
    return null;
  end if;

  content := svc_hidden.filter_value(col, value);
  if content is null then
    return null;
  end if;
  -- ne keeps rows without a value, which `<>` would drop.
  return format(
    '%s %s %L::%s', subject,
    case op when 'eq' then '=' when 'gt' then '>' when 'gte' then '>=' when 'lt' then '<' when 'lte' then '<='
      else 'is distinct from' end,
    content, cast_type
  );
end
$$;

comment on function svc_hidden.filter_condition(jsonb, jsonb) is
  'One condition of a filter as SQL over t, or null when it is to be ignored. Part of svc_hidden.filter_sql(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and setting one takes longer than it.';

grant execute on function svc_hidden.filter_condition(jsonb, jsonb)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
