-- The planner's estimate of the number of rows, policies included: from the table's statistics, at the same cost for
-- any size. Its error is that of the statistics. For svc_hidden.count_rows() and generated lists.
--
-- Statistics cover everybody's rows. With repeated questions such as "salary above x" a caller could learn the
-- distribution of other users' salaries, and the highest one (svc_hidden.estimate_matches). So the function takes one table,
-- and no condition but that of soft deletion. SQL that is injected into a request learns no more from it than generated
-- lists show.
--
-- Volatile only because PostgreSQL runs EXPLAIN in no other function. But a volatile function may also SET, for example
-- the identity, and EXECUTE accepts several statements. A loop over the result opens a cursor, which accepts one
-- statement that returns rows.

create or replace function svc.estimate_rows(target text, condition text)
returns bigint
language plpgsql
volatile
set search_path = ''
as $$
declare
  relation constant regclass := target::regclass;
  plan json;
begin
  if condition !~ '^t\.([a-z_][a-z0-9_]*|"([^"]|"")+") is (null|not true)$' then
    raise exception 'rows are estimated under no condition but that of soft deletion' using errcode = '42501';
  end if;
  for plan in execute format('explain (format json) select from %s as t where %s', relation, coalesce(condition, 'true')) loop
    return (plan -> 0 -> 'Plan' ->> 'Plan Rows')::bigint;
  end loop;
end
$$;

comment on function svc.estimate_rows(text, text) is
  'Number of rows of a table that the planner expects, without soft-deleted rows.';

grant execute on function svc.estimate_rows(text, text) to svc_anonymous, svc_authenticated;
