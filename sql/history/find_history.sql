-- A page of the history of a row of a generated resource: {data, nextCursor}, or null when the caller does not see the row.
-- Called by svc_crud.<prefix>_history(). Runs with the caller's rights; svc.row_history() says what the caller may read.
--
-- `resource` comes from the code generator and is trusted. `args` comes from the caller: {id, limit, cursor}, of which only
-- values reach SQL. Entries have database names and values as JSON of the time of the change. Here they become what the
-- resource's get returns: a value goes through a row of the table's present type. Where an old value does not fit that
-- type any more, the page has the values as they were kept.

create or replace function svc.find_history(resource jsonb, args jsonb)
returns json
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  id constant jsonb := resource #> '{keys,id}';
  page_size constant integer := least(greatest(coalesce((args -> 'limit')::integer, (resource #> '{limits,0}')::integer), 1),
    (resource #> '{limits,1}')::integer);
  -- `offset 0`: the conversion of an entry is done once, and not for each of its columns.
  statement constant text := 'select json_agg(json_build_object(
      ''id'', e.id::text, ''at'', e.at, ''actor'', e.actor, ''operation'', e.operation, ''changed'', (
        select coalesce(json_object_agg(f.property, case when e.changed -> f.name <> ''null''
                 then json_build_array(v.before -> f.property, v.after -> f.property) end), ''{}'')
          from jsonb_to_recordset($5) as f (property text, name text) where e.changed ? f.name)
    ) order by e.id desc)
    from svc.row_history($1, $2, $3, $4) as e
    cross join lateral (select %s as before, %s as after offset 0) as v';
  kept constant text := '(select jsonb_object_agg(f.property, e.changed -> f.name -> %s)
    from jsonb_to_recordset($5) as f (property text, name text))';
  shown constant text := '(select %s from jsonb_populate_record(null::%s, coalesce((select jsonb_object_agg(c.key, c.value -> %s)
    from jsonb_each(e.changed) as c where c.value <> ''null''), ''{}'')) as t)';
  fields constant jsonb := (
    select jsonb_agg(jsonb_build_object('property', f.field ->> 0, 'name', f.field ->> 1))
      from jsonb_array_elements(resource -> 'fields') as f (field));
  relation constant regclass := resource ->> 'table';
  item constant text := resource ->> 'item';
  row_key text;
  data json;
begin
  execute format('select to_jsonb(t.%1$I) #>> ''{}'' from %2$s as t where %3$s', id ->> 'name', resource ->> 'table',
    concat_ws(' and ', format('t.%I = %L::%s', id ->> 'name', args ->> 'id', id ->> 'type'), resource ->> 'visible')) into row_key;
  if row_key is null then
    return null;
  end if;

  begin
    execute format(statement, format(shown, item, relation, 0), format(shown, item, relation, 1))
      into data using relation, row_key, (args ->> 'cursor')::bigint, page_size + 1, fields;
  exception when data_exception or check_violation or not_null_violation then
    execute format(statement, format(kept, 0), format(kept, 1))
      into data using relation, row_key, (args ->> 'cursor')::bigint, page_size + 1, fields;
  end;

  return json_build_object(
    'data', coalesce((select json_agg(d.entry order by d.place) from json_array_elements(data) with ordinality as d (entry, place)
                       where d.place <= page_size), '[]'),
    'nextCursor', case when json_array_length(data) > page_size then data -> (page_size - 1) ->> 'id' end);
end
$$;

comment on function svc.find_history(jsonb, jsonb) is
  'A page of the history of one row, or null. Called by generated history functions.';

grant execute on function svc.find_history(jsonb, jsonb) to svc_anonymous, svc_authenticated;
