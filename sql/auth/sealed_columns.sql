-- The columns in which the authentication library and its plugins may keep values that a secret encrypts: any text
-- column in schema auth. Called by src/auth/reencrypt.ts as svc_system.
--
-- The keys that sign JWTs are left out: they retire by themselves when the secret changes
-- (src/auth/sessions/key-store.ts).

create or replace function svc_private.sealed_columns()
returns table (relation text, column_name text)
language sql
stable
set search_path = ''
as $$
  select a.attrelid::regclass::text, a.attname::text
    from pg_catalog.pg_attribute a
    join pg_catalog.pg_class c on c.oid = a.attrelid
   where c.relnamespace = 'auth'::regnamespace and c.relkind = 'r' and c.oid <> 'auth.jwks'::regclass
     and a.attnum > 0 and not a.attisdropped and a.atttypid in ('text'::regtype, 'varchar'::regtype)
   order by 1, a.attnum
$$;

comment on function svc_private.sealed_columns() is 'Columns in which values may be encrypted under one of the secrets.';
