-- Transactions that have been open for more than five seconds. While one is open, vacuum removes no row that it might
-- see, in any table: `holds_back` is the number of transactions since. Idle ones wait for their application, which may
-- have forgotten them.

create or replace view svc_private.ops_long_transactions as
select a.pid, a.usename::text as role, a.application_name as application, a.state,
       round(extract(epoch from clock_timestamp() - a.xact_start)::numeric, 1) as open_seconds,
       round(extract(epoch from clock_timestamp() - a.state_change)::numeric, 1) as in_state_seconds,
       age(a.backend_xmin) as holds_back, svc_private.statement_text(a.query) as last_statement
  from pg_catalog.pg_stat_activity a
 where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'
   and a.xact_start < clock_timestamp() - interval '5 seconds'
 order by a.xact_start;

comment on view svc_private.ops_long_transactions is 'Transactions open for more than five seconds, without literal values.';
