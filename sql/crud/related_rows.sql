-- The rows behind a relation as JSON, as a SQL expression over the row t that has the relation: an array, or one row or
-- null. Called by svc_hidden.related_item().
--
-- The rows are read under the policies of their own table, with the columns, filters and soft deletion of their own
-- resource. In the expression t is the related row; the columns of the outer t that it is found by are passed as k. So
-- every level uses the same fragments, whatever the tables are, and a table may be related to itself.
--
--   relation   {to, many, local, foreign, through?} of the code generator
--   wanted     {limit, orderBy, filters, select, include} of the caller, or true

create or replace function svc_hidden.related_rows(relation jsonb, wanted jsonb)
returns text
language plpgsql
stable
as $$
declare
  target  constant jsonb   := svc_hidden.crud_resource(relation ->> 'to');
  many    constant boolean := (relation -> 'many')::boolean;
  options constant jsonb   := case when jsonb_typeof(wanted) = 'object' then wanted else '{}' end;
  chosen  constant record  := svc_hidden.related_item(target, options);
  link    constant record  := svc_hidden.related_link(relation, target, options -> 'filters');
  order_by text := target ->> 'orderBy';
  direction text := 'desc';
  sort jsonb;
  row_limit bigint := 1;
begin
  if many then
    select o.key, case when o.value = 'asc' then 'asc' else 'desc' end into order_by, direction
      from jsonb_each_text(options -> 'orderBy') as o
     where target -> 'columns' ? o.key
     limit 1;
    if not found then
      order_by := target ->> 'orderBy';
      direction := 'desc';
    end if;
    row_limit := least(greatest(coalesce((options ->> 'limit')::bigint, (target #> '{limits,0}')::bigint), 1),
      (target #> '{limits,1}')::bigint);
  end if;
  sort := target -> 'columns' -> order_by;

  -- As in svc_hidden.page_sql(), the innermost select sorts and limits plain columns; JSON is made of what is left.
  return format(
    '(select %1$s
        from (select %2$s) as k
        cross join lateral (
          select %4$s from %5$s as t where %6$s order by t.%7$I %8$s %9$s, t.%10$I %8$s limit %11$s
        ) as t
        cross join lateral %3$s as item)',
    case when many then 'coalesce(json_agg(item.*), ''[]'')' else 'row_to_json(item.*)' end,
    link.keys,
    chosen.item,
    svc_hidden.columns_sql(chosen.needed || array[sort ->> 'name', target #>> '{columns,id,name}']),
    target ->> 'table',
    link.condition,
    sort ->> 'name',
    direction,
    case when (sort ->> 'notNull')::boolean then '' else 'nulls last' end,
    target #>> '{columns,id,name}',
    row_limit
  );
end
$$;

comment on function svc_hidden.related_rows(jsonb, jsonb) is
  'The rows behind a relation as JSON, as SQL over t. Part of svc_hidden.related_item(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and setting one takes longer than it.';

grant execute on function svc_hidden.related_rows(jsonb, jsonb) to svc_anonymous, svc_authenticated;
