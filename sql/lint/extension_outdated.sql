-- The server has a newer version of the extension than this database uses: its fixes are installed but not active.

create or replace view svc_private.lint_extension_outdated as
select 'info' as severity, 'pg_catalog.pg_extension'::regclass as catalog, e.oid as object, 0 as part, e.extname::text as name,
       format('is at version %s; the server has %s', e.extversion, a.default_version) as problem,
       format('alter extension %I update;', e.extname) as remedy
  from pg_catalog.pg_extension e
  join pg_catalog.pg_available_extensions a on a.name = e.extname
 where a.default_version <> e.extversion;

comment on view svc_private.lint_extension_outdated is 'Extensions that the server has in a newer version.';
