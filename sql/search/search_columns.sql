-- The select list by which svc_private.index_rows(), svc_private.index_rows_together() and svc_private.fill_search() read
-- rows to index, over the alias `t`: the members of svc_private.search_row. Names come from the declaration and are quoted.
-- An undeclared column has the same value in all rows: the corpus "default", the visibility that the declaration names, no
-- owner.

create or replace function svc_private.search_columns(target integer)
returns text
language sql
stable
set search_path = ''
as $$
  select format('t.%I::text as row_id, %s as corpus, %s as visibility, %s as owner_id, array[%s] as texts',
           definition ->> 'id',
           coalesce('t.' || quote_ident(definition ->> 'corpus'), quote_literal('default')) || '::text',
           coalesce('t.' || quote_ident(definition ->> 'visibility'), quote_literal(definition ->> 'always')) || '::text',
           coalesce('t.' || quote_ident(definition ->> 'owner'), 'null') || '::text',
           (select string_agg(format('coalesce(t.%I::text, '''')', field), ', ' order by position)
              from jsonb_array_elements_text(definition -> 'fields') with ordinality as f (field, position)))
    from svc_private.search_tables
   where id = target
$$;

comment on function svc_private.search_columns(integer) is 'The columns that indexing selects from a searchable table.';
