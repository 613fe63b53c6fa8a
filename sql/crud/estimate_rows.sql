-- How many rows the planner expects, policies included: from the table's statistics, at the same cost for any size. Off by
-- as much as the statistics are. They are of everybody's rows: a condition that a caller chose does not belong in here
-- (svc.estimate_matches). For svc.count_rows() and generated lists.
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
  plan json;
begin
  for plan in execute format('explain (format json) select from %s as t where %s', target, coalesce(condition, 'true')) loop
    return (plan -> 0 -> 'Plan' ->> 'Plan Rows')::bigint;
  end loop;
end
$$;

comment on function svc.estimate_rows(text, text) is 'Number of rows that the planner expects under a condition.';

grant execute on function svc.estimate_rows(text, text) to svc_anonymous, svc_authenticated;
