-- Drops the generated functions that no file of the application writes any more: those of a resource that is gone, and
-- old overloads of one whose id has another type, which `create or replace` leaves beside the new. Called by
-- src/migrate/migrate.ts after the application's files.
--
-- A generated function says in its comment from which text it was made. One without that mark is somebody's own, and is
-- left alone; so is one that something else depends on: the migration fails and names it.

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
       and substring(obj_description(p.oid, 'pg_proc') from ' svc:([0-9a-f]{16})$') <> all (fingerprints)
     order by 1
  loop
    execute format('drop function %s', found.name);
    return next found.name;
  end loop;
end
$$;

comment on function svc_private.drop_unwritten_crud(text[]) is
  'Drops generated functions whose fingerprint is not among those that the application''s files write.';
