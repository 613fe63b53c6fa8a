-- Whether the operators of a type are in the schema of an extension, as those of citext and ltree. The search path of the
-- functions that compare keys names no such schema. Called by the functions of Studio that compare keys.

create or replace function svc_private.is_of_extension(type text)
returns boolean
language sql
stable
set search_path = ''
as $$
  -- The operators of enums, domains and composite types are in pg_catalog.
  select exists (
    select from pg_catalog.pg_type y
     where y.oid = to_regtype(is_of_extension.type) and y.typtype = 'b' and y.typnamespace <> 'pg_catalog'::regnamespace)
$$;

comment on function svc_private.is_of_extension(text) is
  'Whether the search path of svc''s functions lacks the operators of a type.';

-- svc_private.change_row() runs as they.
grant execute on function svc_private.is_of_extension(text) to svc_reader_anonymous, svc_reader_authenticated;
