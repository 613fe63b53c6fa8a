-- A foreign key to the users should reference their primary key. Another unique column, such as the address, may
-- change, and a key to it depends on how the authentication stores its tables.

create or replace view svc_private.lint_foreign_key_to_auth as
select 'warning' as severity, 'pg_catalog.pg_constraint'::regclass as catalog, k.oid as object, 0 as part,
       format('%I on %s', k.conname, r.name) as name,
       format('refers to a column of %s that is not its primary key', k.confrelid::regclass) as problem,
       'Reference auth."user" (id).' as remedy
  from pg_catalog.pg_constraint k
  join svc_private.relations r on r.oid = k.conrelid and r.schema <> 'auth'
  join pg_catalog.pg_class t on t.oid = k.confrelid and t.relnamespace = to_regnamespace('auth')
 where k.contype = 'f'
   and k.confkey::int2[] is distinct from (
     select p.conkey from pg_catalog.pg_constraint p where p.conrelid = t.oid and p.contype = 'p');

comment on view svc_private.lint_foreign_key_to_auth is
  'Foreign keys to authentication tables that do not reference the primary key.';
