-- PostgreSQL checks a constraint NOT VALID for new rows only: old rows may violate it, although the schema seems to
-- exclude that.

create or replace view svc_private.lint_unvalidated_constraint as
select 'warning' as severity, 'pg_catalog.pg_constraint'::regclass as catalog, k.oid as object, 0 as part,
       format('%I on %s', k.conname, r.name) as name, 'was never checked for the rows that existed before it' as problem,
       format('alter table %s validate constraint %I;', r.name, k.conname) as remedy
  from pg_catalog.pg_constraint k
  join svc_private.relations r on r.oid = k.conrelid
 where not k.convalidated;

comment on view svc_private.lint_unvalidated_constraint is 'Constraints that are checked only for new rows.';
