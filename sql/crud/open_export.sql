-- Opens the cursor svc_export over every row of a generated resource that the caller may see, as svc.find_rows() would
-- list them: the same filters, search, order and columns, without pages. What a list would ignore in the filters is an
-- error here, because fewer conditions export more rows. Called with the caller's role inside a
-- read-only transaction (src/transfer/export-rows.ts); svc.read_export() reads the cursor.
--
-- `list` is the resource's description from the code generator, {args} of the caller as in svc.find_rows(), and for CSV
-- {cells}, which svc_hidden.csv_sql() takes. Without cells each row is a JSON text.
--
-- A column of type json keeps its line breaks, which are white space there: a line break inside of a JSON string is
-- written as \n. They become spaces, so that a row is one line. A record of CSV ends in CR, as svc.read_export() adds LF.

create or replace function svc.open_export(list jsonb)
returns void
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
set cursor_tuple_fraction = 1  -- every row is read
as $$
#variable_conflict use_variable
declare
  rows constant refcursor := 'svc_export';
  columns constant jsonb := list -> 'columns';
  args constant jsonb := list -> 'args';
  sort constant jsonb := columns -> case when columns ? (args ->> 'orderBy') then args ->> 'orderBy' else list ->> 'orderBy' end;
  direction constant text := case when lower(args ->> 'orderDir') = 'asc' then 'asc' else 'desc' end;
  condition constant text := concat(coalesce(list ->> 'visible', 'true'),
    svc_hidden.exact_filter(list, coalesce(args -> 'filters', '{}')),
    ' and ' || svc_hidden.search_sql(list -> 'search', quote_literal(svc_hidden.search_pattern(nullif(args ->> 'search', '')))));
begin
  -- The line is made outside of the sort, so that plain columns are sorted.
  open rows for execute format(
    'select %1$s as line from (select %2$s from %3$s as t where %4$s order by %5$s %6$s %7$s, %8$s %6$s) as t',
    case
      when list ? 'cells' then svc_hidden.csv_sql(list -> 'fields', list -> 'cells') || $s$ || E'\r'$s$
      else format($s$translate((%s)::text, E'\n\r', '  ')$s$, list ->> 'item')
    end,
    list ->> 'row',
    list ->> 'table',
    condition,
    format('t.%I', sort ->> 'name'),
    direction,
    case when (sort ->> 'notNull')::boolean then '' else 'nulls last' end,
    format('t.%I', list #>> '{columns,id,name}')
  );
end
$$;

comment on function svc.open_export(jsonb) is
  'Opens the cursor of an export: every row of a list that the caller may see. Read by svc.read_export().';

grant execute on function svc.open_export(jsonb) to svc_anonymous, svc_authenticated;
