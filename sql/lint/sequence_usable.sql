-- USAGE on a sequence lets SQL inside a request take numbers without inserting a row: three million a second, so that
-- an integer key has none left after twelve minutes and every insert fails. A rollback does not return them. UPDATE
-- sets the sequence to any number. An identity column takes its numbers without a privilege.

create or replace view svc_private.lint_sequence_usable as
select case when granted.privileges ~ 'update' then 'error' else 'warning' end as severity, 'pg_catalog.pg_class'::regclass as catalog,
       c.oid as object, 0 as part, c.oid::regclass::text as name,
       format('gives %s to %s', granted.privileges, granted.roles) as problem,
       case when owner.column_name is not null and not owner.is_identity then
         format('Make %1$s.%2$s an identity column: svc migrate generate writes it for a serial (docs/how-to/change-the-schema.md).',
                owner.relation, quote_ident(owner.column_name))
       else format('revoke all on sequence %s from public, svc_anonymous, svc_authenticated;', c.oid::regclass) end as remedy
  from pg_catalog.pg_class c
  join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  join lateral (
    select string_agg(distinct lower(a.privilege_type), ', ') as privileges,
           string_agg(distinct svc_private.role_name(a.grantee), ', ') as roles
      from pg_catalog.aclexplode(c.relacl) a
     where a.privilege_type in ('USAGE', 'UPDATE')
       and (a.grantee = 0 or svc_private.role_name(a.grantee) in ('svc_anonymous', 'svc_authenticated', 'svc_reader_anonymous', 'svc_reader_authenticated', 'svc_request'))
  ) as granted on granted.privileges is not null
  left join lateral (
    select d.refobjid::regclass as relation, t.attname as column_name, t.attidentity <> '' as is_identity
      from pg_catalog.pg_depend d
      join pg_catalog.pg_attribute t on t.attrelid = d.refobjid and t.attnum = d.refobjsubid
     where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i') and d.refobjsubid > 0
     limit 1
  ) as owner on true
 where c.relkind = 'S' and n.nspname not in ('graphile_worker', 'information_schema') and n.nspname not like 'pg\_%'
   and not exists (select from pg_catalog.pg_depend d
                    where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e');

comment on view svc_private.lint_sequence_usable is 'Sequences that request roles may use or set.';
