-- What a row of the alias t shows, with the properties that a caller selects and the relations that they include, as a
-- sub-select; and the columns of t that it reads. Called by svc.find_rows(), svc.find_row(), svc.list_statement(),
-- svc.get_statement() and svc_hidden.related_rows().
--
-- Callers join it to t, `cross join lateral … as item`, and make JSON of item.*. Within the list of an outer select, each row
-- would be a sub-plan: PostgreSQL takes longer to plan and to run that.
--
-- `wanted` comes from the caller: {select, include}. In include, `_count` asks for numbers of related rows. It only chooses
-- among the `fields` and `relations` of the description, which comes from the code generator; what is not there is left out.
-- src/crud/related-arguments.ts has refused it before, and has bounded levels, relations and rows.

create or replace function svc_hidden.related_item(resource jsonb, wanted jsonb, out item text, out needed text[])
language plpgsql
stable
as $$
declare
  relations constant jsonb := coalesce(resource -> 'relations', '{}');
  parts text[];
  name text;
  options jsonb;
begin
  select coalesce(array_agg(format('%s as %I', f.field ->> 2, f.field ->> 0) order by f.position), '{}'),
         coalesce(array_agg(f.field ->> 1), '{}')
    into parts, needed
    from jsonb_array_elements(resource -> 'fields') with ordinality as f (field, position)
   where not wanted ? 'select' or wanted -> 'select' ? (f.field ->> 0);

  for name, options in select e.key, e.value from jsonb_each(coalesce(wanted -> 'include', '{}')) as e loop
    if name = '_count' then
      parts := parts || format('%s as "_count"', svc_hidden.related_counts(relations, options));
      needed := needed || array(
        select jsonb_array_elements_text(relations -> c.key -> 'local') from jsonb_each(options) as c where relations ? c.key);
    elsif relations ? name and (options = 'true' or jsonb_typeof(options) = 'object') then
      parts := parts || format('%s as %I', svc_hidden.related_rows(relations -> name, options), name);
      needed := needed || array(select jsonb_array_elements_text(relations -> name -> 'local'));
    end if;
  end loop;

  item := format('(select %s)', array_to_string(parts, ', '));
end
$$;

comment on function svc_hidden.related_item(jsonb, jsonb) is
  'A row with selected properties and included relations, as a sub-select over t. Part of svc.find_rows(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and setting one takes longer than it.';

grant execute on function svc_hidden.related_item(jsonb, jsonb) to svc_anonymous, svc_authenticated;
