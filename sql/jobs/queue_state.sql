-- The state of the queue in one row, for metrics and `svc doctor`, so called every few seconds. Up to 10,000 jobs of a
-- state are counted; larger numbers are estimated from the table's statistics, which are as old as its last vacuum,
-- about a minute.
--
-- Each job is counted in one state, which list_jobs.sql defines. Due jobs and later ones begin at a position in the library's index for each priority; svc itself uses one priority.
-- The other states have the indexes jobs_held and jobs_tried. So the whole queue is never read, whatever the statistics
-- say. Volatile only because PostgreSQL runs EXPLAIN in no other function.

create or replace function svc_private.queue_state()
returns table (due bigint, running bigint, scheduled bigint, failing bigint, dead bigint, oldest_due_seconds float8)
language plpgsql
volatile
set search_path = ''
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off  -- a disabled scan has a high estimated cost: the plan would be compiled
as $$
declare
  most constant integer := 10000;
  urgency smallint := (select min(j.priority) from graphile_worker._private_jobs j where j.is_available);
  oldest timestamptz;
  later bigint := 0; -- scheduled and failing
  retries bigint; -- failing, and due for another attempt
  kept float8;
  tried float8;
  plan json;
begin
  due := 0;
  while urgency is not null loop
    due := due + (select count(*) from (
      select from graphile_worker._private_jobs j
       where j.is_available and j.priority = urgency and j.run_at <= now() limit most + 1) d);
    later := later + (select count(*) from (
      select from graphile_worker._private_jobs j
       where j.is_available and j.priority = urgency and j.run_at > now() limit most + 1) s);
    oldest := least(oldest, (
      select j.run_at from graphile_worker._private_jobs j
       where j.is_available and j.priority = urgency order by j.run_at limit 1));
    urgency := (
      select min(j.priority) from graphile_worker._private_jobs j where j.is_available and j.priority > urgency);
  end loop;
  running := (select count(*) from (
    select from graphile_worker._private_jobs j where j.locked_by is not null limit most + 1) r);
  select count(*), count(*) filter (where f.run_at > now()) into retries, failing from (
    select j.run_at from graphile_worker._private_jobs j
     where j.is_available and j.locked_at is null and j.attempts > 0 limit most + 1) f;
  dead := (select count(*) from (
    select from graphile_worker._private_jobs j
     where not j.is_available and j.locked_at is null and j.attempts > 0 limit most + 1) d);
  oldest_due_seconds := greatest(0, coalesce(extract(epoch from now() - oldest), 0));

  if greatest(due, later, retries, dead) > most then
    select c.reltuples * pg_relation_size(c.oid) / current_setting('block_size')::float8 / greatest(1, c.relpages) into kept
      from pg_catalog.pg_class c where c.oid = 'graphile_worker._private_jobs'::regclass;
    select c.reltuples into tried from pg_catalog.pg_class c where c.oid = 'graphile_worker.jobs_tried'::regclass;
    if dead > most then
      dead := greatest(dead, tried - retries);
    elsif retries > most then
      failing := failing * greatest(1, (tried - dead) / retries);
    end if;
    if due > most and later > most then
      for plan in
        explain (format json) select from graphile_worker._private_jobs j where j.is_available and j.run_at <= now()
      loop
        due := greatest(due, (plan -> 0 -> 'Plan' ->> 'Plan Rows')::bigint);
      end loop;
    elsif due > most then
      due := greatest(due, kept - later - running - dead);
    end if;
    if later > most then
      later := greatest(later, kept - due - running - dead);
    end if;
  end if;
  scheduled := greatest(0, later - failing);
  return next;
end
$$;

comment on function svc_private.queue_state() is
  'Numbers of jobs by state, estimates beyond 10,000, and for how long the oldest has been due.';
