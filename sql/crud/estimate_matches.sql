-- Estimates how many rows of a list a caller's filters and search leave, for svc.find_rows().
--
-- The planner's own estimate uses statistics of the whole table. With repeated questions such as "salary above x" a
-- caller could learn the distribution of other users' salaries, and the highest one. So the planner is only asked how
-- many rows the caller may see, and their first 1,000 tell which share of them matches. With fewer rows, that count is
-- the answer.

create or replace function svc_hidden.estimate_matches(target text, visible text, condition text)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  looked bigint;
  matching bigint;
begin
  for looked, matching in execute format(
    'select count(*), count(*) filter (where matches) from (select %s as matches from %s as t where %s limit 1000) as looked',
    condition, target, coalesce(visible, 'true')
  ) loop
    return case when looked < 1000 then matching
      else round(greatest(svc.estimate_rows(target, visible), looked)::numeric * matching / looked) end;
  end loop;
end
$$;

comment on function svc_hidden.estimate_matches(text, text, text) is
  'Estimate of the rows that match a condition and that the caller may see: the share among the first 1,000 times '
  'the planner''s number.';

grant execute on function svc_hidden.estimate_matches(text, text, text) to svc_anonymous, svc_authenticated;
