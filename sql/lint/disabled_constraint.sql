-- `alter table … disable trigger all` also disables the triggers by which PostgreSQL checks foreign keys: rows are no longer
-- checked or deleted with the row that they name, the constraint still counts as validated, and pg_dump does not save that state.

-- The remedy makes the constraint again, which checks the rows that were written meanwhile and needs no superuser. A partition's
-- constraint cannot be dropped by itself.
create or replace view svc_private.lint_disabled_constraint as
select 'error' as severity, 'pg_catalog.pg_constraint'::regclass as catalog, k.oid as object, 0 as part,
       format('%I on %s', k.conname, r.name) as name,
       format('is switched off by disabled triggers on %s: rows may violate it', d.tables) as problem,
       case when k.conparentid = 0 then format('alter table %s drop constraint %I, add constraint %I %s;', r.name, k.conname,
                                               k.conname, pg_catalog.pg_get_constraintdef(k.oid))
            else format('As a superuser: alter table %s enable trigger all; then look for rows that violate it.', d.tables)
       end as remedy
  from pg_catalog.pg_constraint k
  join svc_private.relations r on r.oid = k.conrelid
  join (select t.tgconstraint, string_agg(distinct t.tgrelid::regclass::text, ', ') as tables
          from pg_catalog.pg_trigger t where t.tgconstraint <> 0 and t.tgenabled in ('D', 'R')
         group by t.tgconstraint) d on d.tgconstraint = k.oid
 where k.contype = 'f';

comment on view svc_private.lint_disabled_constraint is 'Foreign keys whose triggers are disabled.';
