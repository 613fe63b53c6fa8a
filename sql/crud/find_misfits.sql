-- The values that do not fit the type of their column. PostgreSQL refuses a row without saying which value was invalid.
-- After such a refusal src/crud/locate-invalid-columns.ts calls this function, so that it costs nothing in the normal
-- case.
--
-- Each value is converted as for an insert (src/crud/crud-writes.ts). Any error means that it does not fit: types of
-- extensions raise arbitrary errors, and tsquery a syntax error. A type's own limits and a domain's checks count, too.

create or replace function svc.find_misfits(schema_name text, table_name text, data jsonb)
returns text[]
language plpgsql
stable
set search_path = ''
set timezone = 'UTC'
as $$
declare
  misfits text[] := '{}';
  field record;
begin
  for field in
    select e.key, e.value, format_type(a.atttypid, a.atttypmod) as type from jsonb_each(data) as e
      join pg_catalog.pg_attribute a on a.attname = e.key
     where a.attrelid = format('%I.%I', schema_name, table_name)::regclass
  loop
    begin
      -- Alone: a whole row without the value of another column fails if the domain of that one is NOT NULL.
      execute format('select value from jsonb_to_record($1) as row (value %s)', field.type)
        using jsonb_build_object('value', field.value);
    exception when insufficient_privilege then
      null; -- The type is in a schema that the caller may not use.
    when others then
      misfits := misfits || field.key;
    end;
  end loop;
  return misfits;
end
$$;

comment on function svc.find_misfits(text, text, jsonb) is
  'Names of the columns whose values, by column name in the object, do not fit their types.';

grant execute on function svc.find_misfits(text, text, jsonb) to svc_request, svc_anonymous, svc_authenticated;
