-- The columns of auth."user", so that src/auth/create-auth.ts can report declared additional fields that have no column
-- yet. Called once per process, as svc_auth.

create or replace function auth.list_user_columns()
returns setof text
language sql
stable
set search_path = ''
as $$
  select a.attname::text
    from pg_catalog.pg_attribute a
   where a.attrelid = 'auth."user"'::regclass and a.attnum > 0 and not a.attisdropped
$$;

grant execute on function auth.list_user_columns() to svc_auth;

comment on function auth.list_user_columns() is 'Names of the columns of auth."user".';
