-- A page of the deliveries to a row of a generated resource: {data, nextCursor}, or null when the caller does not see the row.
-- Called by svc_crud.<prefix>_deliveries() and svc.retry_delivery(). Runs with the caller's rights; svc.row_deliveries() says what
-- the caller may read.
--
-- `resource` comes from the code generator and is trusted. `args` comes from the caller: {id, delivery, limit, cursor}, of which
-- only values reach SQL.

create or replace function svc.find_deliveries(resource jsonb, args jsonb)
returns json
language plpgsql
stable
set search_path = pg_catalog, public, extensions, pg_temp
as $$
declare
  id constant jsonb := resource #> '{keys,id}';
  page_size constant integer := least(greatest(coalesce((args -> 'limit')::integer, (resource #> '{limits,0}')::integer), 1),
    (resource #> '{limits,1}')::integer);
  row_key text;
  data json;
  next_cursor text;
begin
  execute format('select t.%I::text from %s as t where %s', id ->> 'name', resource ->> 'table',
    concat_ws(' and ', format('t.%I = %L::%s', id ->> 'name', args ->> 'id', id ->> 'type'), resource ->> 'visible')) into row_key;
  if row_key is null then
    return null;
  end if;
  select json_agg(json_build_object('id', d.id, 'event', d.webhook, 'state', d.state, 'attempts', d.attempts,
             'createdAt', d.created_at, 'dueAt', d.due_at, 'endedAt', d.ended_at, 'status', d.last_status, 'error', d.last_error)
           order by d.sequence desc) filter (where d.place <= page_size),
         case when count(*) > page_size then min(d.sequence) filter (where d.place <= page_size)::text end
    into data, next_cursor
    from (select f.*, row_number() over (order by f.sequence desc) as place
            from svc.row_deliveries((resource ->> 'table')::regclass, row_key, (args ->> 'delivery')::uuid,
                                    (args ->> 'cursor')::bigint, page_size + 1) f) d;
  return json_build_object('data', coalesce(data, '[]'), 'nextCursor', next_cursor);
end
$$;

comment on function svc.find_deliveries(jsonb, jsonb) is
  'A page of the deliveries to one row, or null. Called by generated functions.';

grant execute on function svc.find_deliveries(jsonb, jsonb) to svc_authenticated;
