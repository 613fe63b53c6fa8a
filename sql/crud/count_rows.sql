-- The total of a list, as its resource is configured, for svc.find_rows(). `none` is null; `exact` counts the rows that
-- the caller may see; `estimated` asks the planner, which uses the table's statistics and costs the same for any size,
-- or looks at a sample where the caller filters or searches. The sample's estimate is at least the number of rows that
-- were shown.

create or replace function svc_hidden.count_rows(target text, visible text, requested text, mode text, shown bigint)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp  -- operators as in svc.find_rows()
as $$
declare
  total bigint;
begin
  if mode = 'none' then
    return null;
  elsif mode = 'estimated' and requested is null then
    return svc.estimate_rows(target, visible);
  elsif mode = 'estimated' then
    return greatest(svc_hidden.estimate_matches(target, visible, requested), shown);
  end if;

  execute format('select count(*) from %s as t where %s', target,
    coalesce(nullif(concat_ws(' and ', visible, requested), ''), 'true')) into total;
  return total;
end
$$;

comment on function svc_hidden.count_rows(text, text, text, text, bigint) is
  'Number of rows of a list: exact, estimated, or null for none. Part of svc.find_rows().';

grant execute on function svc_hidden.count_rows(text, text, text, text, bigint) to svc_anonymous, svc_authenticated;
