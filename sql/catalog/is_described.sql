-- Whether list_facts() describes a schema: every schema except PostgreSQL's own.

create or replace function svc_private.is_described(namespace oid)
returns boolean
language sql
stable
set search_path = ''
as $$
  select n.nspname <> 'information_schema' and n.nspname not like 'pg\_%'
    from pg_catalog.pg_namespace n where n.oid = namespace
$$;

comment on function svc_private.is_described(oid) is 'Whether a schema is the platform''s or the application''s, not PostgreSQL''s.';
