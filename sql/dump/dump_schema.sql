-- Describes the platform's part of this database as text, one line per fact, in an order that does not depend on
-- when something was created. `npm run db:dump` writes it to sql/schema.dump.sql; CI compares the file with a fresh
-- install and with every upgrade. Our own query, and not pg_dump: that differs between versions, and an older pg_dump
-- refuses a newer server.
--
-- Left out on purpose: names of the application's schemas, versions of extensions, anything that holds data. Of the
-- queue only its revision: what it consists of is its library's business.

create or replace function svc_private.dump_schema()
returns setof text
language plpgsql
stable
set search_path = ''
as $$
declare
  platform constant text[] := array['svc', 'svc_private', 'svc_crud', 'auth', 'graphile_worker', 'extensions'];
begin
  return query select '-- Roles';
  return query
    select format('role %s%s%s%s%s%s', r.rolname,
             case when r.rolcanlogin then ' login' else ' nologin' end,
             case when r.rolinherit then '' else ' noinherit' end,
             case when r.rolbypassrls then ' bypassrls' else '' end,
             case when r.rolreplication then ' replication' else '' end,
             case when r.rolsuper then ' superuser' else '' end)
      from pg_catalog.pg_roles r where r.rolname like 'svc\_%' order by r.rolname;
  return query
    select format('member %s of %s', pg_catalog.pg_get_userbyid(m.member), pg_catalog.pg_get_userbyid(m.roleid))
      from pg_catalog.pg_auth_members m
     where pg_catalog.pg_get_userbyid(m.member) like 'svc\_%'
     order by 1;
  return query
    select format('setting %s %s', pg_catalog.pg_get_userbyid(s.setrole), pg_catalog.unnest(s.setconfig))
      from pg_catalog.pg_db_role_setting s
     where s.setdatabase = 0 and pg_catalog.pg_get_userbyid(s.setrole) like 'svc\_%'
     order by 1;

  return query select '';
  return query select '-- Schemas';
  return query
    select format('schema %s owner %s', n.nspname,
             case when n.nspname = 'extensions' then 'administrator' else pg_catalog.pg_get_userbyid(n.nspowner)::text end)
      from pg_catalog.pg_namespace n where n.nspname = any (platform) order by n.nspname;
  return query
    select format('grant %s on schema %s to %s', lower(a.privilege_type), n.nspname, svc_private.role_name(a.grantee))
      from pg_catalog.pg_namespace n, pg_catalog.aclexplode(n.nspacl) a
     where n.nspname = any (platform || array['public']) and svc_private.role_name(a.grantee) ~ '^(svc_(?!owner)|public)'
     order by n.nspname, 1;
  return query
    select format('default for %s: %s on %s to %s', pg_catalog.pg_get_userbyid(d.defaclrole), lower(a.privilege_type),
             case d.defaclobjtype when 'r' then 'tables' when 'S' then 'sequences' when 'f' then 'functions'
               when 'T' then 'types' else d.defaclobjtype::text end,
             svc_private.role_name(a.grantee))
      from pg_catalog.pg_default_acl d, pg_catalog.aclexplode(d.defaclacl) a
     where pg_catalog.pg_get_userbyid(d.defaclrole) = 'svc_owner' and a.grantee <> d.defaclrole
     order by 1;

  return query select '';
  return query select '-- Closed doors of pg_catalog: who may still call them';
  return query
    select format('%s: %s', p.proname, coalesce(string_agg(distinct svc_private.role_name(a.grantee), ', '
             order by svc_private.role_name(a.grantee)) filter (where svc_private.role_name(a.grantee) ~ '^(svc_|public)'), ''))
      from pg_catalog.pg_proc p
      left join lateral pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) a on true
     where p.pronamespace = 'pg_catalog'::regnamespace
       and p.proname in ('set_config', 'pg_notify', 'pg_logical_emit_message')
     group by p.proname order by p.proname;

  return query select '';
  if to_regclass('graphile_worker.migrations') is not null then
    return query select format('queue at revision %s', max(m.id)) from graphile_worker.migrations m;
  end if;

  return query select svc_private.dump_relation(c.oid)
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where n.nspname = any (platform) and n.nspname <> 'graphile_worker' and c.relkind in ('r', 'p', 'v', 'm')
     and not exists (select from pg_catalog.pg_depend d where d.objid = c.oid and d.deptype = 'e')
   order by n.nspname, c.relname;

  return query select svc_private.dump_function(p.oid)
    from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
   where n.nspname in ('svc', 'svc_private', 'auth')
   order by n.nspname, p.proname, p.oid::regprocedure::text;
end
$$;

comment on function svc_private.dump_schema() is 'The platform''s schema as text, for sql/schema.dump.sql.';
