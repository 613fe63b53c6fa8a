-- The select list that the trigger function svc_private.index_rows() takes its rows from, over the alias `t`. Names come from the
-- declaration and are quoted.

create or replace function svc_private.search_columns(target integer)
returns text
language sql
stable
set search_path = ''
as $$
  select format('t.%I::text as row_id, t.%I::text as corpus, t.%I::text as visibility, t.%I::text as owner_id, array[%s] as texts',
           definition ->> 'id', definition ->> 'corpus', definition ->> 'visibility', definition ->> 'owner',
           (select string_agg(format('coalesce(t.%I::text, '''')', field), ', ' order by position)
              from jsonb_array_elements_text(definition -> 'fields') with ordinality as f (field, position)))
    from svc_private.search_tables
   where id = target
$$;

comment on function svc_private.search_columns(integer) is 'What indexing selects from a searchable table.';
