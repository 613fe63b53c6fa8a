-- The condition of a generated change of many rows, as SQL over t that follows other conditions. Called by
-- svc_crud.<prefix>_update_many() and _remove_many(). Where a list would ignore a part of its filters, this raises an
-- error with the path to it (src/postgres/errors.ts reads the detail). No filters at all must be said: {}.

create or replace function svc_hidden.exact_filter(resource jsonb, filters jsonb)
returns text
language plpgsql
stable
set search_path = ''
as $$
declare
  columns constant jsonb := (resource -> 'filters') || coalesce(resource -> 'relations', '{}');
  path jsonb;
  condition text;
begin
  if filters = '{}' then
    return '';
  end if;
  if svc_hidden.filter_size(filters) > 5000 then
    path := '[]';
  else
    path := svc_hidden.ignored_filter(columns, filters);
  end if;
  if path is null then
    condition := svc_hidden.filter_sql(columns, filters);
  end if;
  if condition is null then
    raise exception 'is no condition that this resource allows, or one of too many'
      using errcode = '22023', detail = 'svc:invalid=' || (jsonb_build_array('filters') || coalesce(path, '[]'))::text;
  end if;
  return ' and ' || condition;
end
$$;

comment on function svc_hidden.exact_filter(jsonb, jsonb) is
  'Filters as a condition behind others, or an error with the path to the part that a list would ignore. Called by generated '
  'functions that change many rows.';

grant execute on function svc_hidden.exact_filter(jsonb, jsonb) to svc_request, svc_anonymous, svc_authenticated;
