-- The memberships of a login limit what a request can do. If the requests' login is a member of a role that bypasses
-- policies, or reaches the server's files and programs, SQL in a request could switch to that role. What a request role is a
-- member of by way of another one is reported there: only that membership can be revoked.

create or replace view svc_private.lint_bypassing_role as
select 'error' as severity, 'pg_catalog.pg_authid'::regclass as catalog, r.oid as object, 0 as part, r.rolname::text as name,
       case when r.rolsuper then 'is a superuser' when r.rolbypassrls then 'has BYPASSRLS'
            else format('may become %s', above.rolname) end as problem,
       case when above.rolname is null then format('alter role %I nosuperuser nobypassrls;', r.rolname)
            else format('revoke %I from %I;', above.member_of, r.rolname) end as remedy
  from pg_catalog.pg_roles r
  left join lateral (
    select a.rolname, via.rolname as member_of
      from pg_catalog.pg_auth_members m
      join pg_catalog.pg_roles via on via.oid = m.roleid and via.rolname not in ('svc_anonymous', 'svc_authenticated')
      join pg_catalog.pg_roles a on a.oid = via.oid or not via.rolsuper and pg_has_role(via.oid, a.oid, 'member')
     where m.member = r.oid
       and (a.rolsuper or a.rolbypassrls or a.rolname in (
         'svc_owner', 'svc_auth', 'pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files'))) above on true
 where r.rolname in ('svc_request', 'svc_anonymous', 'svc_authenticated')
   and (r.rolsuper or r.rolbypassrls or above.rolname is not null);

comment on view svc_private.lint_bypassing_role is
  'Request roles that bypass row-level security, or can switch to a role that does.';
