-- The WHEN clause of a webhook's trigger, for one operation. Part of svc_private.install_webhooks().
--
-- An insert or a delete fires when the row matches the filter. An update fires when the row matches now, and either did not
-- match before or one of `columns` has another value. record_image_ne() compares stored values, so it takes every type.

create or replace function svc_private.webhook_condition(declared jsonb, operation text)
returns text
language sql
stable
set search_path = ''
as $$
  with sides as (
    select side,
           (select string_agg(
                     case when f.value is null then format('%s.%I is null', side, f.key)
                          else format('%s.%I %s %L', side, f.key, svc_private.equality(a.atttypid), f.value) end,
                     ' and ' order by f.key)
              from jsonb_each_text(declared -> 'filter') as f
              left join pg_catalog.pg_attribute a on a.attrelid = (declared ->> 'table')::regclass and a.attname = f.key) as matches,
           (select string_agg(format('%s.%I', side, name), ', ')
              from jsonb_array_elements_text(declared -> 'columns') as name) as columns
      from unnest(array['old', 'new']) as side
  )
  select case operation
           when 'insert' then coalesce(new.matches, 'true')
           when 'delete' then coalesce(old.matches, 'true')
           else format('%s(%spg_catalog.record_image_ne(row(%s), row(%s)))',
             new.matches || ' and ', '(' || old.matches || ') is not true or ', new.columns, old.columns)
         end
    from sides old, sides new
   where old.side = 'old' and new.side = 'new'
$$;

revoke execute on function svc_private.webhook_condition(jsonb, text) from svc_system;

comment on function svc_private.webhook_condition(jsonb, text) is 'The WHEN clause of a webhook''s trigger.';
