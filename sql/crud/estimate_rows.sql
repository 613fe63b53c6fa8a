-- How many rows the planner expects, policies included: from the table's statistics, at the same cost for any size. Off by
-- as much as the statistics are. For svc.count_rows() and generated lists.
--
-- Statistics are of everybody's rows: whoever could ask "salary above x" again and again would learn how the salaries of
-- others are spread, and what the highest is (svc.estimate_matches). So it takes one table, and of conditions only that of soft
-- deletion, and SQL that somebody smuggles into a request gets no more out of it than generated lists do.
--
-- Volatile only because PostgreSQL runs EXPLAIN in no other function. A volatile function may also SET, the identity for
-- one, and EXECUTE takes several statements. A loop over the result opens a cursor, which takes one that gives rows.

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

comment on function svc.estimate_rows(text, text) is 'Number of rows of a table that the planner expects, without those that are softly deleted.';

grant execute on function svc.estimate_rows(text, text) to svc_anonymous, svc_authenticated;
