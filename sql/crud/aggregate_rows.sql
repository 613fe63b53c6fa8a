-- Counts and measures the rows of a generated resource, by groups. Called by svc_crud.<prefix>_aggregate(). Runs with the
-- caller's rights, so the table's policies decide about every row: one that the caller may not see is not counted.
--
-- `resource` comes from the code generator and is trusted; its member `aggregate` has the SQL of every group and measure
-- by name, in which $1 is the time zone. `args` comes from the caller, checked by src/crud/aggregate.ts: {groupBy,
-- measures, filters, search, orderBy, orderDir, limit, timeZone}. Its names are looked up in `aggregate`.
--
-- Groups are in the order that is asked for and then in that of their own values, so that the limit always leaves out
-- the same ones.

create or replace function svc.aggregate_rows(resource jsonb, args jsonb)
returns json
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  known constant jsonb := (resource #> '{aggregate,groups}') || (resource #> '{aggregate,measures}');
  page_size constant integer := (args -> 'limit')::integer;
  condition constant text := concat(coalesce(resource ->> 'visible', 'true'), svc_hidden.exact_filter(resource, args -> 'filters'),
    ' and ' || svc_hidden.search_sql(resource -> 'search', quote_literal(svc_hidden.search_pattern(nullif(args ->> 'search', '')))));
  chosen text;
  shown text;
  keys text;
  sorted text;
  found json;
  total bigint;
begin
  begin
    perform now() at time zone (args ->> 'timeZone');
  exception when invalid_parameter_value then
    raise exception 'must be the name of a time zone, such as Europe/Berlin; "%" is not one', args ->> 'timeZone'
      using errcode = '22023', detail = 'svc:invalid=["timeZone"]';
  end;

  select string_agg(format('%s as c%s', known -> a.name ->> 'sql', a.number), ', ' order by a.number),
         string_agg(format(case when (known -> a.name -> 'text')::boolean then 'svc_hidden.wire_text(g.c%s) as %I' else 'g.c%s as %I' end,
           a.number, a.name), ', ' order by a.number),
         string_agg(a.number::text, ', ' order by a.number) filter (where a.number <= jsonb_array_length(args -> 'groupBy')),
         string_agg(format('%s %s nulls last', a.number, case when a.name = args ->> 'orderBy' then args ->> 'orderDir' else 'asc' end),
           ', ' order by a.name is distinct from args ->> 'orderBy', a.number)
           filter (where a.name = args ->> 'orderBy' or a.number <= jsonb_array_length(args -> 'groupBy'))
    into chosen, shown, keys, sorted
    from jsonb_array_elements_text((args -> 'groupBy') || (args -> 'measures')) with ordinality as a (name, number);

  execute format(
    'select coalesce(json_agg(item.it) filter (where item.n <= %1$s), ''[]''), count(*)
       from (
         select (select row_to_json(one.*) from (select %2$s) as one) as it, row_number() over () as n
           from (select %3$s from %4$s as t where %5$s%6$s%7$s limit %1$s + 1) as g
       ) as item',
    page_size, shown, chosen, resource ->> 'table', condition, ' group by ' || keys, ' order by ' || sorted)
    into found, total using args ->> 'timeZone';
  return json_build_object('data', found, 'hasMore', total > page_size);
end
$$;

comment on function svc.aggregate_rows(jsonb, jsonb) is
  'Groups of rows with their measures: {data, hasMore}. Called by generated aggregate functions.';

grant execute on function svc.aggregate_rows(jsonb, jsonb) to svc_anonymous, svc_authenticated;
