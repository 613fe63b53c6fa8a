-- The total of a list, as its resource is configured: `exact` counts the rows that the caller may see, `estimated` asks
-- the planner, which uses the table's statistics and costs the same for any size, `none` is null.

create or replace function svc_hidden.count_rows(target text, condition text, mode text)
returns bigint
language plpgsql
stable
set search_path = ''
as $$
declare
  total bigint;
begin
  if mode = 'none' then
    return null;
  end if;

  if mode = 'estimated' then
    return svc.estimate_rows(target, condition);
  end if;

  execute format('select count(*) from %s as t where %s', target, coalesce(condition, 'true')) into total;
  return total;
end
$$;

comment on function svc_hidden.count_rows(text, text, text) is
  'Number of rows of a table under a condition: exact, estimated, or null for none.';

grant execute on function svc_hidden.count_rows(text, text, text) to svc_anonymous, svc_authenticated;
