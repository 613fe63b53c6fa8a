-- Metrics of workflows, webhooks, storage, AI spending, backups and replication, one number a row. Each process calls it at
-- most every 15 seconds (src/server/metrics-database.ts), as svc_system. The queue has a separate function, sql/jobs/queue_state.sql.
--
-- Each part reads an index or few rows, except for two: the runs that have not ended are all read, and the sum of sizes, which
-- beyond a million files is estimated from a hundredth of the pages.

create or replace function svc_private.service_state()
returns table (metric text, state text, value float8)
language plpgsql
stable
set search_path = ''
as $$
declare
  files constant float8 := (select c.reltuples from pg_catalog.pg_class c where c.oid = 'svc.storage_objects'::regclass);
begin
  return query
    with active as (
      select case when r.status = 'running' then 'running'
                  when r.wait_marker is null then 'queued'
                  when r.wait_marker like 'wait:%' then 'waiting'
                  when r.wait_marker like 'sleep#%' then 'sleeping'
                  else 'held' end as state,  -- for another attempt or worker, or until others of its name have ended
             r.updated_at
        from svc.workflow_runs r where r.status in ('pending', 'running')
    ), counted as (
      select a.state, count(*) as runs, min(a.updated_at) as oldest from active a group by 1
    )
    select 'workflow_runs', s.state, coalesce(c.runs, 0)::float8
      from (values ('running'), ('queued'), ('waiting'), ('sleeping'), ('held')) s (state)
      left join counted c on c.state = s.state
    union all
    select 'workflow_oldest_queued_seconds', '',
           coalesce(extract(epoch from now() - min(c.oldest)), 0)::float8 from counted c where c.state = 'queued'
    union all
    select 'workflow_failed_last_day', '', count(*)::float8
      from svc.workflow_runs r where r.finished_at > now() - interval '1 day' and r.status = 'failed'
    union all
    select 'workflow_last_failure_timestamp_seconds', '', coalesce(extract(epoch from max(r.finished_at)), 0)::float8
      from svc.workflow_runs r where r.status = 'failed'
    union all
    select 'webhook_deliveries', 'pending', count(*)::float8
      from (select from svc.webhook_deliveries d where d.state = 'pending' limit 10000) w
    union all
    select 'webhook_deliveries', 'dead', count(*)::float8
      from (select from svc.webhook_deliveries d where d.state = 'dead' limit 10000) w
    union all
    select 'storage_uploads', '', count(*)::float8 from svc.storage_uploads u where u.kind <> 'call'
    union all
    select 'ai_credits_today', s.state,
           coalesce((select sum(case s.state when 'charged' then l.charged else l.reserved end)
                       from svc.ai_ledger l
                      where l.created_at >= date_trunc('day', now() at time zone 'UTC') at time zone 'UTC'
                        and case s.state when 'charged' then l.state = 'settled'
                                 else l.state = 'reserved' and l.expires_at > now() end), 0)::float8
      from (values ('charged'), ('reserved')) s (state)
    union all
    select 'oldest_transaction_seconds', '',
           coalesce(extract(epoch from clock_timestamp() - least(min(a.xact_start), (
             select min(p.prepared) from pg_catalog.pg_prepared_xacts p where p.database = current_database()))), 0)::float8
      from pg_catalog.pg_stat_activity a
     where a.datname = current_database() and a.backend_type = 'client backend' and a.pid <> pg_backend_pid()
    union all
    select s.metric, '', coalesce(extract(epoch from s.at), 0)::float8
      from svc_private.backup_state() b,
           lateral (values ('backup_last_timestamp_seconds', b.taken_at), ('backup_tried_timestamp_seconds', b.tried_at)) s (metric, at)
    union all
    select 'replication_held_bytes', '', coalesce(max((slot ->> 'bytes')::float8), 0)
      from svc_private.replication_state() r, jsonb_array_elements(r.held) slot;

  if files > 1000000 then
    return query
      select 'storage_objects', '', files
      union all
      select 'storage_bytes', '', coalesce(avg(o.size), 0)::float8 * files
        from svc.storage_objects o tablesample system (1);
  else
    return query
      select s.metric, '', s.value
        from (select count(*)::float8 as objects, coalesce(sum(o.size), 0)::float8 as bytes from svc.storage_objects o) t,
             lateral (values ('storage_objects', t.objects), ('storage_bytes', t.bytes)) s (metric, value);
  end if;
end
$$;

comment on function svc_private.service_state() is
  'Numbers for metrics: runs of workflows, files and bytes, credits of this UTC day, the oldest transaction, backups, log that replication slots keep.';
