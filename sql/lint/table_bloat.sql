-- Every scan reads past dead rows. Autovacuum has not run on the table, or a transaction that stays open prevents it
-- from removing them.

create or replace view svc_private.lint_table_bloat as
select 'info' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       format('holds %s dead rows beside %s live ones', s.n_dead_tup, s.n_live_tup) as problem,
       format('vacuum %s; and look for transactions that stay open.', r.name) as remedy
  from svc_private.relations r
  join pg_catalog.pg_stat_user_tables s on s.relid = r.oid
 where s.n_dead_tup > 10000 and s.n_dead_tup > s.n_live_tup;

comment on view svc_private.lint_table_bloat is 'Tables with more dead rows than live ones.';
