-- Transactions that have been open for more than five seconds. While one is open, vacuum removes no row that it might
-- see, in any table: `holds_back` is the number of transactions since. Idle ones wait for their application, which may
-- have forgotten them. A prepared transaction has no session, and so has a slot that keeps rows for a standby which is
-- away (`hot_standby_feedback`). A standby without a slot keeps them while it is connected; its transactions are in this view
-- of its own.

create or replace view svc_private.ops_vacuum_holders as
select a.pid, a.usename::text as role, a.application_name as application, a.state,
       round(extract(epoch from clock_timestamp() - a.xact_start)::numeric, 1) as open_seconds,
       round(extract(epoch from clock_timestamp() - a.state_change)::numeric, 1) as in_state_seconds,
       age(a.backend_xmin) as holds_back, svc_private.statement_text(a.query) as last_statement,
       format('select pg_terminate_backend(%s);', a.pid) as remedy
  from pg_catalog.pg_stat_activity a
 where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'
   and a.xact_start < clock_timestamp() - interval '5 seconds'
union all
select null, p.owner::text, p.gid, 'prepared', round(extract(epoch from clock_timestamp() - p.prepared)::numeric, 1), null,
       age(p.transaction), null, format('rollback prepared %L;', p.gid)
  from pg_catalog.pg_prepared_xacts p
 where p.database = current_database() and p.prepared < clock_timestamp() - interval '5 seconds'
union all
select s.active_pid, null, s.slot_name::text collate "default", 'slot', null, null, age(s.xmin), null,
       format('select pg_drop_replication_slot(%L);', s.slot_name)
  from pg_catalog.pg_replication_slots s
 where age(s.xmin) > 100000
union all
select r.pid, r.usename::text, r.application_name, 'standby', null, null, age(r.backend_xmin), null,
       'select * from svc_private.ops_vacuum_holders; -- on the standby'
  from pg_catalog.pg_stat_replication r
 where age(r.backend_xmin) > 100000
 order by open_seconds desc nulls first;

comment on view svc_private.ops_vacuum_holders is 'Transactions open for more than five seconds, and slots and standbys that hold rows back, without literal values.';

-- The name that it has in earlier versions, without the remedy. A version in between has nine columns there.
drop view if exists svc_private.ops_long_transactions;

create view svc_private.ops_long_transactions as
select pid, role, application, state, open_seconds, in_state_seconds, holds_back, last_statement
  from svc_private.ops_vacuum_holders;

comment on view svc_private.ops_long_transactions is 'svc_private.ops_vacuum_holders under its earlier name.';
