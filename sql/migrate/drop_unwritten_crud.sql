-- Drops generated functions that are in no file of the application any more: those of a removed resource, and old
-- overloads of a resource whose id has another type, which `create or replace` does not remove. Called by
-- src/migrate/migrate.ts after the application's files.
--
-- The comment of a generated function says from which text it was made. A function without that mark was not generated
-- and is not dropped. A function on which something else depends is not dropped either: the migration fails and names
-- it.

create or replace function svc_private.drop_unwritten_crud(fingerprints text[])
returns setof text  -- the functions that were dropped
language plpgsql
volatile
set search_path = ''
as $$
declare
  found record;
begin
  for found in
    select p.oid::regprocedure::text as name
      from pg_catalog.pg_proc p
     where p.pronamespace = 'svc_crud'::regnamespace
       and obj_description(p.oid, 'pg_proc') ~ ' svc:[0-9a-f]{16}$'  -- without it, null <> all ('{}') would be true
       and right(obj_description(p.oid, 'pg_proc'), 16) <> all (fingerprints)
     order by 1
  loop
    execute format('drop function %s', found.name);
    return next found.name;
  end loop;
end
$$;

comment on function svc_private.drop_unwritten_crud(text[]) is
  'Drops generated functions whose fingerprint is not in the application''s files.';
