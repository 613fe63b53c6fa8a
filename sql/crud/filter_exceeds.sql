-- Whether numbers of a filter need a wider type than their integer column has: 2.5 and 3000000000 have a place in the
-- column's order, and equal none of its values. svc_hidden.filter_condition() then compares as numeric, which no index
-- supports. False where a value is not a number, or has lost digits on its way: a number larger than a JSON number can
-- hold exactly.

create or replace function svc_hidden.filter_exceeds(col jsonb, value jsonb)
returns boolean
language plpgsql
immutable
as $$
declare
  bounds constant jsonb := case
    when col ->> 'kind' = 'bigint' then '{"most": 9007199254740991, "high": 9007199254740991}'
    when col ->> 'type' ~ '(small|int2)' then '{"most": 1e999, "high": 32767}'
    else '{"most": 1e999, "high": 2147483647}'
  end;
begin
  return jsonb_path_exists(value, '$[*] ? (@ != @.floor() || @ > $high || @ < -$high - 1)', bounds)
    and not jsonb_path_exists(
      value, '$[*] ? ((@.type() != "number" && @.type() != "null") || @ > $most || @ < -$most)', bounds);
end
$$;

comment on function svc_hidden.filter_exceeds(jsonb, jsonb) is
  'Whether numbers of a filter do not fit the type of their integer column. Part of svc_hidden.filter_condition(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and SET takes longer than the function.';

grant execute on function svc_hidden.filter_exceeds(jsonb, jsonb)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
