-- A fingerprint of the effect of a file of policies/ on a table: row-level security, policies with their comments, and
-- privileges. The migrator stores it beside the file's checksum (src/migrate/migrate.ts) and compares both after a
-- migration. A file whose text and effect are unchanged is not applied again, because that would lock the table for
-- everybody.
--
-- Policies app_… on the platform's tables belong to the application, as in svc_private.reset_policies(). Null: no such
-- table.

create or replace function svc_private.access_state(target text)
returns text
language sql
stable
set search_path = ''
as $$
  select md5(concat_ws(E'\n', c.oid, c.relrowsecurity, c.relforcerowsecurity, c.relacl::text,
    (select string_agg(concat_ws(' ', a.attname, a.attacl::text), E'\n' order by a.attnum)
       from pg_catalog.pg_attribute a where a.attrelid = c.oid and a.attacl is not null),
    (select string_agg(concat_ws(E'\x1f', p.polname, p.polcmd, p.polpermissive, p.polroles::text,
              pg_catalog.pg_get_expr(p.polqual, c.oid), pg_catalog.pg_get_expr(p.polwithcheck, c.oid),
              pg_catalog.obj_description(p.oid, 'pg_policy')), E'\n' order by p.polname)
       from pg_catalog.pg_policy p
      where p.polrelid = c.oid and not (c.relnamespace = 'svc'::regnamespace and p.polname like 'app\_%'))))
    from pg_catalog.pg_class c
   where c.oid = to_regclass(target)
$$;

revoke execute on function svc_private.access_state(text) from svc_system;

comment on function svc_private.access_state(text) is 'A fingerprint of a table''s policies and privileges.';
