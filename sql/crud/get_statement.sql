-- The statement that answers gets of one shape: the same key, properties and relations, with other values. The service
-- asks for its text once and keeps it as a prepared statement (src/crud/prepared-read.ts), as those of lists
-- (sql/crud/list_statement.sql). A key finds one row at most, so PostgreSQL keeps the plan, too.
--
-- The text runs with the caller's identity and role, so the table's policies decide about the row. Its parameters are the
-- values of the key, in the order of the names in `by`.
--
-- The argument is the description of the resource (see svc.find_rows) with one member more, `shape`:
--
--   by                names of the key's properties
--   select, include   of the caller, as svc.find_row() takes them; no filters within include
--
-- Null for a key that the resource does not have.

create or replace function svc.get_statement(resource jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  shape  constant jsonb  := resource -> 'shape';
  chosen constant record := svc_hidden.related_item(resource, shape);
  condition text;
begin
  select case when bool_and(resource -> 'keys' ? k.name) then
           string_agg(format('t.%I = $%s::%s', resource #>> array['keys', k.name, 'name'], k.position,
             resource #>> array['keys', k.name, 'type']), ' and ' order by k.position)
         end
    into condition
    from jsonb_array_elements_text(shape -> 'by') with ordinality as k (name, position);
  if condition is null or not resource ? 'fields' then
    return null;
  end if;

  return format(
    'select (
       select row_to_json(item.*)::text
         from (select %s from %s as t where %s limit 1) as t
         cross join lateral %s as item
     ) as result',
    svc_hidden.columns_sql(chosen.needed || (resource #>> '{columns,id,name}')),
    resource ->> 'table',
    concat_ws(' and ', condition, resource ->> 'visible'),
    chosen.item);
end
$$;

comment on function svc.get_statement(jsonb) is
  'The text of the prepared statement that answers gets of one shape, or null. Called by the service.';

grant execute on function svc.get_statement(jsonb) to svc_request, svc_anonymous, svc_authenticated;
