-- Without row-level security a grant gives access to all rows. `svc migrate` enables it for the application's tables;
-- this one was created, or changed, without it.

create or replace view svc_private.lint_rls_disabled as
select 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       'has no row-level security: a role with a grant has all rows' as problem,
       format('alter table %s enable row level security; and %s.', r.name,
              case when c.relispartition then 'do that wherever partitions are made: they need no policies'
                   else 'write its policies' end) as remedy
  from svc_private.relations r
  join pg_catalog.pg_class c on c.oid = r.oid
 where r.kind in ('r', 'p') and not r.has_rls
   and not exists (select from pg_catalog.pg_policy p where p.polrelid = r.oid);

comment on view svc_private.lint_rls_disabled is 'Tables without row-level security.';
