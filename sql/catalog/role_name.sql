-- The name of a grantee; 0 stands for PUBLIC in access lists. Called by list_facts() and its parts.

create or replace function svc_private.role_name(grantee oid)
returns text
language sql
stable
set search_path = ''
as $$
  select case when grantee = 0 then 'public' else pg_catalog.pg_get_userbyid(grantee)::text end
$$;

comment on function svc_private.role_name(oid) is 'Name of a grantee in an access control list; public for 0.';
