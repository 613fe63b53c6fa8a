-- One row of a generated resource, when the caller wants other columns than all, relations, or knows it by another key
-- than its id. Called by the second form of svc_crud.<prefix>_get. Runs with the caller's rights, so policies decide.
--
-- `resource` comes from the code generator and is trusted. `args` comes from the caller: {by, select, include}. Of `by`
-- only values reach SQL, as quoted literals of the type of their column.
--
-- Types and operators are looked up as in migrations: a citext is found as citext. Related rows are planned as in
-- svc.find_rows().

create or replace function svc.find_row(resource jsonb, args jsonb)
returns json
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
set seq_page_cost = 0.02
set random_page_cost = 0.08
as $$
declare
  chosen constant record := svc_hidden.related_item(resource, args);
  condition text;
  result json;
begin
  select string_agg(format('t.%I = %L::%s', k.value ->> 'name', args -> 'by' ->> k.key, k.value ->> 'type'), ' and ')
    into condition
    from jsonb_each(resource -> 'keys') as k
   where args -> 'by' ? k.key;
  if condition is null then
    return null;
  end if;

  execute format(
    'select row_to_json(item.*) from (select %s from %s as t where %s limit 1) as t cross join lateral %s as item',
    svc_hidden.columns_sql(chosen.needed || (resource #>> '{columns,id,name}')),
    resource ->> 'table',
    concat_ws(' and ', condition, resource ->> 'visible'),
    chosen.item) into result;
  return result;
end
$$;

comment on function svc.find_row(jsonb, jsonb) is
  'One row by a key, with selected properties and included relations, or null. Called by generated get functions.';

grant execute on function svc.find_row(jsonb, jsonb) to svc_anonymous, svc_authenticated;
