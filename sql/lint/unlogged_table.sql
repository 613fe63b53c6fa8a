-- A crash empties an unlogged table, and replicas do not have it.

create or replace view svc_private.lint_unlogged_table as
select 'warning' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       'is unlogged: a crash empties it' as problem, format('alter table %s set logged;', r.name) as remedy
  from svc_private.relations r
 where r.persistence = 'u';

comment on view svc_private.lint_unlogged_table is 'Tables that a crash empties.';
