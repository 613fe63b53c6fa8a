-- Other databases of this server in which svc's roles may work, for `svc doctor`. Roles and logins belong to the
-- server: a DATABASE_SYSTEM_URL that opens one of these databases opens all of them.
--
-- sql/schemas.sql gives svc_owner CREATE on its database, which PostgreSQL gives to no role by default. Temporary
-- databases of `svc db drift` do not count.

create or replace function svc_private.sibling_databases()
returns setof text
language sql
stable
set search_path = ''
as $$
  select d.datname::text
    from pg_catalog.pg_database d
   where d.datname <> current_database() and d.datallowconn and d.datname not like 'svc\_scratch%'
     and has_database_privilege('svc_owner', d.oid, 'create')
   order by d.datname
$$;

comment on function svc_private.sibling_databases() is 'Other databases of this server that svc was migrated into.';
