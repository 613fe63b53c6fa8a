-- How old the oldest transaction id and the oldest multixact of the database are. Past `vacuum_at` autovacuum freezes tables
-- whatever their settings are; past 1.5 billion an operator should check what holds it back (ops_vacuum_holders): PostgreSQL
-- takes no writes before 2.1 billion. Multixacts come with rows that several transactions lock, as foreign keys do.

create or replace view svc_private.ops_ages as
select 'transaction ids' as counter, age(d.datfrozenxid) as age, current_setting('autovacuum_freeze_max_age')::integer as vacuum_at
  from pg_catalog.pg_database d
 where d.datname = current_database()
union all
select 'multixacts', mxid_age(d.datminmxid), current_setting('autovacuum_multixact_freeze_max_age')::integer
  from pg_catalog.pg_database d
 where d.datname = current_database();

comment on view svc_private.ops_ages is 'Ages of the oldest transaction id and multixact, and from which age autovacuum freezes.';
