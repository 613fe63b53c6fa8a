-- PUBLIC is every role, including roles that are created later.

create or replace view svc_private.lint_public_grant as
select 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       -- INSERT would become ınsert in a Turkish database. The column has the collation of earlier versions.
       format('gives %s to PUBLIC',
         string_agg(distinct lower(a.privilege_type collate "C") collate "default", ', ')) as problem,
       format('revoke all on %s from public; and grant to the roles that need it.', r.name) as remedy
  from svc_private.relations r
 cross join lateral (
   select c.relacl as acl from pg_catalog.pg_class c where c.oid = r.oid
   union all
   select t.attacl from pg_catalog.pg_attribute t where t.attrelid = r.oid and not t.attisdropped) as granted
 cross join pg_catalog.aclexplode(granted.acl) a
 where a.grantee = 0
 group by r.oid, r.name;

comment on view svc_private.lint_public_grant is 'Tables and views with privileges for PUBLIC.';
