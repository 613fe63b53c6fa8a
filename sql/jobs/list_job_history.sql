-- Finished jobs, for `svc jobs history` and Studio, newest first. null leaves a condition out. `before` is the last
-- entry of the page before.

create or replace function svc_private.list_job_history(
  only_name text, only_outcome text, least_ms integer, before bigint, most integer
)
returns table (
  entry bigint, job bigint, kind text, name text, outcome text, attempts integer, run_at timestamptz,
  started_at timestamptz, finished_at timestamptz, ms float8
)
language sql
stable
set search_path = ''
as $$
  select h.entry, h.job, h.kind, h.name, h.outcome, h.attempts, h.run_at, h.started_at, h.finished_at,
         extract(epoch from h.duration)::float8 * 1000
    from svc.job_history h
   where (only_name is null or h.name = only_name) and (only_outcome is null or h.outcome = only_outcome)
     and (least_ms is null or h.duration >= least_ms * interval '1 millisecond')
     and h.entry < coalesce(before, 9223372036854775807)
   order by h.entry desc
   limit most
$$;

comment on function svc_private.list_job_history(text, text, integer, bigint, integer) is
  'Jobs that finished lately, newest first, with how long their last attempt took in milliseconds.';
