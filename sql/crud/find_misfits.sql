-- Which values do not fit the type of their column. PostgreSQL refuses a row without saying which of its values it was; after
-- such a refusal src/crud/locate-invalid-columns.ts asks here, so that it costs nothing while all is well.
--
-- Each value goes the way it goes into the table (src/crud/crud-writes.ts). Any error means that it does not fit: types of
-- extensions raise what they like, and tsquery a syntax error. A type's own limits and a domain's checks count, too.

create or replace function svc.find_misfits(schema_name text, table_name text, data jsonb)
returns text[]
language plpgsql
stable
set search_path = ''
set timezone = 'UTC'
as $$
declare
  fill constant text := format('select jsonb_populate_record(null::%I.%I, $1)', schema_name, table_name);
  misfits text[] := '{}';
  field record;
begin
  for field in select e.key, e.value from jsonb_each(data) as e loop
    begin
      execute fill using jsonb_build_object(field.key, field.value);
    exception when others then
      misfits := misfits || field.key;
    end;
  end loop;
  return misfits;
end
$$;

comment on function svc.find_misfits(text, text, jsonb) is
  'Names of the columns whose values, by column name in the object, do not fit their types.';

grant execute on function svc.find_misfits(text, text, jsonb) to svc_request, svc_anonymous, svc_authenticated;
