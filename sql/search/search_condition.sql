-- The rows of a searchable table that a search is about, as a condition over the alias `t`: its scope and its filters.
-- Part of svc.search_keyword() and svc.search_vector(). Values are quoted literals; a filter that does not fit its
-- column is an error here, unlike in a list: a search with a filter left out shows what was not asked for.
--
-- What a table has no column for has one value in all of its rows, as svc_private.search_columns() says.

create or replace function svc.search_condition(target jsonb, scope jsonb, filters jsonb)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  filter jsonb;
  part text;
  parts text[] := array[
    format('%s = %L', coalesce('t.' || quote_ident(target ->> 'corpus'), quote_literal('default')), scope ->> 'corpus'),
    format('%s = %L', coalesce('t.' || quote_ident(target ->> 'visibility'), quote_nullable(target ->> 'always')),
      scope ->> 'visibility')
  ];
begin
  if scope ->> 'owner' is not null then
    parts := parts || format('%s::text = %L', coalesce('t.' || quote_ident(target ->> 'owner'), 'null'), scope ->> 'owner');
  end if;
  for filter in select f from jsonb_array_elements(filters) as f loop
    part := svc.filter_condition(filter -> 'column', jsonb_build_object('op', filter ->> 'op', 'value', filter -> 'value'));
    if part is null then
      raise exception 'a filter does not fit its column' using errcode = '22023';
    end if;
    parts := parts || part;
  end loop;
  return array_to_string(parts, ' and ');
end
$$;

comment on function svc.search_condition(jsonb, jsonb, jsonb) is 'The scope and the filters of a search as SQL over t.';

grant execute on function svc.search_condition(jsonb, jsonb, jsonb) to svc_anonymous, svc_authenticated;
