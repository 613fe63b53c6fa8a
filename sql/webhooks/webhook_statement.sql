-- The statement that notes the deliveries of a changed row. `changed` and `operation` are SQL of the row, and of insert, update or
-- delete. Part of svc_private.webhook_body().
--
-- Endpoints are chosen by their owner's column alone. The policies of the changed table are not asked: a deleted row has none
-- any more. The declaration's author says by `owner` and `columns` what leaves, and who gets it.
--
-- A webhook to a procedure adds a job instead (svc_private.add_change_job).

drop function if exists svc_private.webhook_statement(jsonb);  -- that of earlier versions

create or replace function svc_private.webhook_statement(declared jsonb, changed text, operation text)
returns text
language sql
stable
set search_path = ''
as $$
  select case when declared ? 'procedure' then format(
    'select svc_private.add_change_job(%1$L, %2$L, %3$s) from (select (%4$s).*) as t where %5$L::regclass is not null',
    declared ->> 'name', declared ->> 'procedure', e.body, changed, declared ->> 'table')
  else format(
    'insert into svc.webhook_deliveries (webhook, source, endpoint, owner, row_key, body) '
    'select %1$L, %2$L, %3$s, %8$s, %4$L || jsonb_build_array(%5$s)::text, svc_private.bounded_body(%1$L, %6$s) from (select (%9$s).*) as t%7$s '
    'where %10$L::regclass is not null',  -- PostgreSQL plans it again after a change of the table
    declared ->> 'name',
    coalesce(e.endpoints ->> 'table', 'env'),
    case when e.endpoints is null then quote_literal(declared ->> 'env') else format('e.%I::text', e.endpoints ->> 'key') end,
    declared ->> 'table' || ' ',
    (select string_agg(format('t.%I', k.name), ', ' order by k.place)
       from jsonb_array_elements_text(declared -> 'key') with ordinality as k (name, place)),
    e.body,
    case when e.endpoints is not null then
      format(' join %s as e on e.%I %s t.%I and e.enabled', e.endpoints ->> 'table', e.endpoints ->> 'owner', (
        -- Columns of two types, such as integer and bigint, have an operator of PostgreSQL, or none.
        select case when count(distinct a.atttypid) = 1 then svc_private.equality(min(a.atttypid)) else '=' end
          from pg_catalog.pg_attribute a
         where (a.attrelid, a.attname) in ((to_regclass(e.endpoints ->> 'table'), e.endpoints ->> 'owner'),
                                           (to_regclass(declared ->> 'table'), declared ->> 'owner'))), declared ->> 'owner')
      || case when e.endpoints ? 'events' then format(' and %L = any (e.%I)', declared ->> 'name', e.endpoints ->> 'events')
              else '' end
    end,
    case when e.endpoints is null then 'null' else format('e.%I::text', e.endpoints ->> 'owner') end,
    changed, declared ->> 'table')
  end
    from (select declared -> 'endpoints' as endpoints,
                 format('json_build_object(''type'', %1$L, ''operation'', %2$s, ''timestamp'', now(), ''data'', '
                   '(select row_to_json(item.*) from (select %3$s) as item))',
                   declared ->> 'name', operation, declared ->> 'data') as body) e
$$;

revoke execute on function svc_private.webhook_statement(jsonb, text, text) from svc_system;

comment on function svc_private.webhook_statement(jsonb, text, text) is 'The statement of a webhook''s trigger function.';
