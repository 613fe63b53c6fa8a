-- Lock waits: a row for every session that waits for a lock, with the sessions that block it, and the one at the head
-- of the chain, which is the one to examine. For `svc db locks`; pg_terminate_backend(head) ends that session.

create or replace view svc_private.ops_blocked as
with recursive waits as (
  select a.pid, blocker.pid as blocked_by
    from pg_catalog.pg_stat_activity a, unnest(pg_catalog.pg_blocking_pids(a.pid)) blocker (pid)
   where a.datname = current_database() and a.wait_event_type = 'Lock'
), chain as (
  select w.pid, w.blocked_by as head, array[w.pid, w.blocked_by] as path from waits w
  union all
  select c.pid, w.blocked_by, c.path || w.blocked_by
    from chain c join waits w on w.pid = c.head
   where w.blocked_by <> all (c.path)  -- a deadlock, until PostgreSQL has ended it
)
select a.pid, (select array_agg(distinct w.blocked_by) from waits w where w.pid = a.pid) as blocked_by,
       c.head, cardinality(c.path) - 1 as depth,
       round(extract(epoch from clock_timestamp() - coalesce(l.since, a.query_start))::numeric, 1) as waiting_seconds,
       l.wanted, a.application_name as application, svc_private.statement_text(a.query) as statement,
       h.application_name as head_application, h.state as head_state,
       round(extract(epoch from clock_timestamp() - h.xact_start)::numeric, 1) as head_transaction_seconds,
       svc_private.statement_text(h.query) as head_statement
  from chain c
  join pg_catalog.pg_stat_activity a on a.pid = c.pid
  left join pg_catalog.pg_stat_activity h on h.pid = c.head
  left join lateral (
    select min(w.waitstart) as since,
           string_agg(distinct w.mode || coalesce(' on ' || w.relation::regclass, ' on a row or transaction'), ', ') as wanted
      from pg_catalog.pg_locks w where w.pid = a.pid and not w.granted) l on true
 where not exists (select from waits further where further.pid = c.head)
 order by waiting_seconds desc, a.pid;

comment on view svc_private.ops_blocked is
  'Sessions that wait for a lock, with the sessions that block them, without literal values.';
