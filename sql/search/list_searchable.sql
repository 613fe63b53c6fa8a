-- The searchable tables, for `svc search` (src/cli/search.ts).

create or replace function svc_private.list_searchable()
returns table (name text, fields text[], always text)  -- always: the visibility of all rows, where no column has it
language sql
stable
set search_path = ''
as $$
  select t.name, array(select jsonb_array_elements_text(t.definition -> 'fields')), t.definition ->> 'always'
    from svc_private.search_tables t
   order by 1
$$;

comment on function svc_private.list_searchable() is 'The searchable tables with their fields.';
