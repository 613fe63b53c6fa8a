-- TRUNCATE ignores policies, REFERENCES reveals by foreign keys which rows exist, TRIGGER runs code with the rights of
-- other users. From 17 on, MAINTAIN locks the table for everybody.

create or replace view svc_private.lint_truncate_granted as
select 'error' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, 0 as part, r.name,
       format('grants %s to %s, which policies do not restrict', string_agg(privilege, ', ' order by privilege), role.name) as problem,
       format('revoke %s on %s from %s;', string_agg(privilege, ', ' order by privilege), r.name, role.name) as remedy
  from svc_private.relations r
 cross join unnest('{svc_anonymous,svc_authenticated,svc_request}'::text[]) as role (name)
 cross join unnest('{truncate,references,trigger}' || case when current_setting('server_version_num')::int >= 170000
                                                            then '{maintain}'::text[] end) as privilege
 where has_table_privilege(role.name, r.oid, privilege)
 group by r.oid, r.name, role.name;

comment on view svc_private.lint_truncate_granted is 'TRUNCATE, REFERENCES, TRIGGER or MAINTAIN for the request roles.';
