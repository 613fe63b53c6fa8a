-- Columns of types such as regproc hold object numbers that are valid in this cluster alone: pg_upgrade refuses a
-- database with them.

create or replace view svc_private.lint_reg_type_column as
select 'warning' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, a.attnum::integer as part,
       format('%s.%I', r.name, a.attname) as name,
       format('is of type %s, which pg_upgrade cannot carry over', pg_catalog.format_type(a.atttypid, null)) as problem,
       'Keep the name as text.' as remedy
  from svc_private.relations r
  join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
 where r.kind in ('r', 'p')
   and a.atttypid in ('regcollation'::regtype, 'regconfig'::regtype, 'regdictionary'::regtype, 'regnamespace'::regtype,
                      'regoper'::regtype, 'regoperator'::regtype, 'regproc'::regtype, 'regprocedure'::regtype);

comment on view svc_private.lint_reg_type_column is 'Columns of types that pg_upgrade refuses.';
