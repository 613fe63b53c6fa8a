-- An extension in public puts its functions beside the application's: requests can call them, and names may collide.

create or replace view svc_private.lint_extension_in_public as
select 'warning' as severity, 'pg_catalog.pg_extension'::regclass as catalog, e.oid as object, 0 as part, e.extname::text as name,
       'is installed in the schema public' as problem,
       format('As a superuser: alter extension %1$I set schema extensions; in a migration: create extension if not exists %1$I schema extensions.',
              e.extname) as remedy
  from pg_catalog.pg_extension e
 where e.extnamespace = to_regnamespace('public');

comment on view svc_private.lint_extension_in_public is 'Extensions in the schema public.';
