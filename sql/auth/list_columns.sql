-- The columns of schema auth, so that src/auth/missing-columns.ts can report what plugins lack. Called once per process, as
-- svc_auth.

create or replace function auth.list_columns()
returns setof text
language sql
stable
set search_path = ''
as $$
  select c.relname || '.' || a.attname
    from pg_catalog.pg_attribute a
    join pg_catalog.pg_class c on c.oid = a.attrelid
   where c.relnamespace = 'auth'::regnamespace and c.relkind in ('r', 'p') and a.attnum > 0 and not a.attisdropped
$$;

grant execute on function auth.list_columns() to svc_auth;

comment on function auth.list_columns() is 'Names of the columns of schema auth, each behind its table and a dot.';
