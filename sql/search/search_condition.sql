-- The condition for the rows that a search covers, over the alias `t`: its scope and its filters. Part of
-- svc_private.select_matches() and svc.search_vector(). Values are quoted literals. A filter that does not fit its
-- column is an error here, unlike in a list: a search without that filter would show rows that were not asked for.
--
-- Where a table has no column for a part of the scope, all of its rows have one value, as svc_private.search_columns()
-- says. Private rows are those of one owner, the caller unless the scope names another, because an index group has one
-- owner. Policies decide which of them the caller sees.
--
-- A filter names its column, and the catalog gives the type: the type becomes part of SQL that may run as a reader.
--
-- Beside the operators of svc_hidden.filter_condition() there are `contains` and `overlaps`, for array columns: all of the
-- values, or one of them, are in the array. A GIN index on the column serves both.

create or replace function svc_hidden.search_condition(target jsonb, scope jsonb, filters jsonb)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  filter jsonb;
  relation constant regclass := target ->> 'table';
  owner_id constant text := coalesce(scope ->> 'owner', svc.current_user_id());
  cast_type text;
  described jsonb;
  members text[];
  part text;
  parts text[] := array[
    format('%s = %L', coalesce('t.' || quote_ident(target ->> 'corpus'), quote_literal('default')), scope ->> 'corpus'),
    format('%s = %L', coalesce('t.' || quote_ident(target ->> 'visibility'), quote_nullable(target ->> 'always')),
      scope ->> 'visibility')
  ];
begin
  if scope ->> 'owner' is not null or scope ->> 'visibility' = 'private' then
    parts := parts || format('%s::text = %L', coalesce('t.' || quote_ident(target ->> 'owner'), 'null'), owner_id);
  end if;
  for i in 0 .. jsonb_array_length(filters) - 1 loop
    filter := filters -> i;
    select pg_catalog.format_type(a.atttypid, -1) into cast_type
      from pg_catalog.pg_attribute a
     where a.attrelid = relation and a.attname = filter #>> '{column,name}' and a.attnum > 0 and not a.attisdropped;
    if cast_type is null then
      raise exception 'a filter names an unknown column of %', relation using errcode = '22023';
    end if;
    described := filter -> 'column' || jsonb_build_object('type', cast_type);
    if filter ->> 'op' in ('contains', 'overlaps') then
      members := svc_hidden.filter_values(described, filter -> 'value');
      part := case
        when (described -> 'array')::boolean and svc_hidden.filter_type(described) is not null and members is not null then
          -- pg_catalog's, because an extension such as intarray has operators of the same name.
          format('t.%I operator(pg_catalog.%s) %L::%s', described ->> 'name',
            case filter ->> 'op' when 'contains' then '@>' else '&&' end, members, cast_type)
      end;
    else
      part := svc_hidden.filter_condition(described, jsonb_build_object('op', filter ->> 'op', 'value', filter -> 'value'));
    end if;
    if part is null then
      raise exception 'a filter does not fit its column' using errcode = '22023';
    end if;
    parts := parts || part;
  end loop;
  return array_to_string(parts, ' and ');
end
$$;

comment on function svc_hidden.search_condition(jsonb, jsonb, jsonb) is 'The scope and the filters of a search as SQL over t.';

grant execute on function svc_hidden.search_condition(jsonb, jsonb, jsonb) to svc_anonymous, svc_authenticated;
