-- The filters inside a condition on a relation, each with the columns that it may name: the condition itself where the
-- relation leads to one row, else its members `some`, `none` and `every`. Called by svc_hidden.filter_relation(),
-- svc_hidden.filter_patterns() and svc_hidden.ignored_filter().

create or replace function svc_hidden.filter_members(
  relation jsonb, input jsonb, out quantifier text, out member jsonb, out columns jsonb
)
returns setof record
language plpgsql
stable
as $$
declare
  target jsonb;
begin
  if jsonb_typeof(input) <> 'object' then
    return;
  end if;
  target := svc_hidden.crud_resource(relation ->> 'to');
  columns := (target -> 'filters') || coalesce(target -> 'relations', '{}');
  if not (relation -> 'many')::boolean then
    quantifier := 'some';
    member := input;
    return next;
    return;
  end if;
  for quantifier, member in select e.key, e.value from jsonb_each(input) as e where e.key in ('some', 'none', 'every') loop
    return next;
  end loop;
end
$$;

comment on function svc_hidden.filter_members(jsonb, jsonb) is
  'The filters inside a condition on a relation. Part of svc_hidden.filter_sql(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and setting one takes longer than it.';

grant execute on function svc_hidden.filter_members(jsonb, jsonb)
  to svc_request, svc_anonymous, svc_authenticated, svc_system;
