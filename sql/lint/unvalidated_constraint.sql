-- PostgreSQL checks a constraint NOT VALID for new rows only, and from 18 on one NOT ENFORCED for no row: rows may violate
-- it, although the schema seems to exclude that.

create or replace view svc_private.lint_unvalidated_constraint as
select 'warning' as severity, 'pg_catalog.pg_constraint'::regclass as catalog, k.oid as object, 0 as part,
       format('%I on %s', k.conname, r.name) as name,
       case when u.enforced then 'was never checked for the rows that existed before it' else 'is not enforced' end as problem,
       case when u.enforced then format('alter table %s validate constraint %I;', r.name, k.conname)
            when k.contype = 'f' then format('alter table %s alter constraint %I enforced;', r.name, k.conname)
            else 'Drop it, and add it again without NOT ENFORCED.' end as remedy
  from pg_catalog.pg_constraint k
  join svc_private.relations r on r.oid = k.conrelid
 cross join lateral (select coalesce((to_jsonb(k) ->> 'conenforced')::boolean, true) as enforced) u
 where not k.convalidated;

comment on view svc_private.lint_unvalidated_constraint is 'Constraints that are checked only for new rows, or for none.';
