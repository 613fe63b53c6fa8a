-- The memberships of a login limit what a request can do. If the requests' login is a member of a role that bypasses
-- policies, or reaches the server's files and programs, SQL in a request could switch to that role.

create or replace view svc_private.lint_bypassing_role as
select 'error' as severity, 'pg_catalog.pg_authid'::regclass as catalog, r.oid as object, 0 as part, r.rolname::text as name,
       case when r.rolsuper then 'is a superuser' when r.rolbypassrls then 'has BYPASSRLS'
            else format('may become %s', above.rolname) end as problem,
       case when above.rolname is null then format('alter role %I nosuperuser nobypassrls;', r.rolname)
            else format('revoke %I from %I;', above.rolname, r.rolname) end as remedy
  from pg_catalog.pg_roles r
  left join pg_catalog.pg_roles above
    on above.oid <> r.oid and (above.rolsuper or above.rolbypassrls or above.rolname in (
      'svc_owner', 'svc_auth', 'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'))
   and pg_has_role(r.oid, above.oid, 'member')
 where r.rolname in ('svc_request', 'svc_anonymous', 'svc_authenticated')
   and (r.rolsuper or r.rolbypassrls or above.oid is not null);

comment on view svc_private.lint_bypassing_role is
  'Request roles that bypass row-level security, or can switch to a role that does.';
