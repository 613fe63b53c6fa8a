-- Policies do not apply to the owner of a table, and the owner may change them.

create or replace view svc_private.lint_request_role_owns as
select 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       format('belongs to %s, so its policies do not apply to that role', o.rolname) as problem,
       format('alter table %s owner to svc_owner;', r.name) as remedy
  from svc_private.relations r
  join pg_catalog.pg_roles o on o.oid = r.owner
 where o.rolname in ('svc_request', 'svc_anonymous', 'svc_authenticated');

comment on view svc_private.lint_request_role_owns is 'Tables and views owned by a request role.';
