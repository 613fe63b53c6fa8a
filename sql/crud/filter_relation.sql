-- A condition on related rows as SQL over t, or null when nothing is left of it. Called by svc_hidden.filter_sql().
--
-- A sub-select under the policies of the related table and of the join table: a row that the caller may not see counts
-- for none of `some`, `none` and `every`. `in`, not `exists`: both sides then have an alias t of their own, and the
-- planner can join.

create or replace function svc_hidden.filter_relation(relation jsonb, input jsonb, depth integer)
returns text
language plpgsql
stable
as $$
declare
  through constant jsonb := relation -> 'through';
  one record;
  target jsonb;
  inner_sql text;
  found_sql text;
  parts text[];
begin
  for one in select m.quantifier, m.member, m.columns from svc_hidden.filter_members(relation, input) as m loop
    if pg_column_size(one.member) > 32768 and svc_hidden.filter_size(one.member) > 5000 then
      -- As in filter_sql(), which counts the conditions of one level.
      perform svc_hidden.refuse_filter('have more than 5,000 keys');
    end if;
    inner_sql := svc_hidden.filter_sql(one.columns, one.member, depth);
    if inner_sql is null and not (one.member = '{}' and one.quantifier <> 'every' and (relation -> 'many')::boolean) then
      continue;  -- an empty filter asks whether there are rows; one of which nothing is left is ignored
    end if;

    target := coalesce(target, svc_hidden.crud_resource(relation ->> 'to'));
    found_sql := format('select %s from %s as t where %s', svc_hidden.names_sql(relation -> 'foreign'), target ->> 'table',
      coalesce(nullif(concat_ws(' and ', target ->> 'visible',
        case when one.quantifier = 'every' then format('%s is not true', inner_sql) else inner_sql end), ''), 'true'));
    if through is not null then
      found_sql := format('select %s from %s as t where %s', svc_hidden.names_sql(through -> 'local'), through ->> 'table',
        concat_ws(' and ', through ->> 'visible', format('(%s) in (%s)', svc_hidden.names_sql(through -> 'foreign'), found_sql)));
    end if;
    parts := parts || format(case when one.quantifier = 'some' then '(%s) in (%s)' else '((%s) in (%s)) is not true' end,
      svc_hidden.names_sql(relation -> 'local'), found_sql);
  end loop;
  return '(' || array_to_string(parts, ' and ') || ')';
end
$$;

comment on function svc_hidden.filter_relation(jsonb, jsonb, integer) is
  'Condition of a filter on related rows, or null. Part of svc_hidden.filter_sql(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and setting one takes longer than it.';

grant execute on function svc_hidden.filter_relation(jsonb, jsonb, integer)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
