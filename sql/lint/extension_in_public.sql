-- An extension in public puts its functions beside the application's: requests can call them, and names may collide.

create or replace view svc_private.lint_extension_in_public as
select 'warning' as severity, 'pg_catalog.pg_extension'::regclass as catalog, e.oid as object, 0 as part, e.extname::text as name,
       'is installed in the schema public' as problem,
       case when e.extrelocatable then
         format('As a superuser: alter extension %1$I set schema extensions; in a migration: create extension if not exists %1$I schema extensions.',
                e.extname)
       else
         format('PostgreSQL cannot move it. Where nothing uses it, as a superuser: drop extension %1$I; create extension %1$I schema extensions. '
                'Otherwise allow it: comment on extension %1$I is ''lint:allow extension_in_public: …''.', e.extname)
       end as remedy
  from pg_catalog.pg_extension e
 where e.extnamespace = to_regnamespace('public')
   -- Those of some, such as pg_repack, are in a schema of their own.
   and exists (select from pg_catalog.pg_depend d join pg_catalog.pg_proc p on p.oid = d.objid
                where d.classid = 'pg_catalog.pg_proc'::regclass and d.refclassid = 'pg_catalog.pg_extension'::regclass
                  and d.refobjid = e.oid and d.deptype = 'e' and p.pronamespace = e.extnamespace);

comment on view svc_private.lint_extension_in_public is 'Extensions in the schema public.';
