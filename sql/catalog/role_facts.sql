-- The platform's roles as facts: attributes, memberships, settings. Called by list_facts(). Roles belong to the whole
-- server, not to one database of it.

create or replace function svc_private.role_facts()
returns table (object text, kind text, part text, definition text, place integer)
language sql
stable
set search_path = ''
as $$
  select 'role ' || r.rolname, 'itself', '',
         concat(case when r.rolcanlogin then 'login' else 'nologin' end,
           case when not r.rolinherit then ' noinherit' end,
           case when r.rolbypassrls then ' bypassrls' end,
           case when r.rolreplication then ' replication' end,
           case when r.rolcreatedb then ' createdb' end,
           case when r.rolcreaterole then ' createrole' end,
           case when r.rolsuper then ' superuser' end), 0
    from pg_catalog.pg_roles r where r.rolname like 'svc\_%'
  union all
  -- PostgreSQL 16 and later say more of a membership; a server that does not say it has no such column.
  select distinct 'role ' || member.rolname, 'member of', role.rolname,
         concat_ws(', ', case when member.rolname = 'svc_request' and (to_jsonb(m) ->> 'inherit_option')::boolean then 'inherits' end,
           case when not (to_jsonb(m) ->> 'set_option')::boolean then 'without set role' end,
           case when m.admin_option then 'may grant it' end), 0
    from pg_catalog.pg_auth_members m
    join pg_catalog.pg_roles member on member.oid = m.member
    join pg_catalog.pg_roles role on role.oid = m.roleid
   where member.rolname like 'svc\_%'
  union all
  select 'role ' || r.rolname, 'setting', concat(split_part(line, '=', 1), ' in database ' || quote_ident(d.datname)),
         substr(line, strpos(line, '=') + 1), 0
    from pg_catalog.pg_db_role_setting s
    join pg_catalog.pg_roles r on r.oid = s.setrole
    left join pg_catalog.pg_database d on d.oid = s.setdatabase
   cross join unnest(s.setconfig) as line
   where (s.setdatabase = 0 or d.datname = current_database()) and r.rolname like 'svc\_%'
$$;

comment on function svc_private.role_facts() is 'Attributes, memberships and settings of the platform''s roles, for list_facts().';
