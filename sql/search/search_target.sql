-- The names and types of a searchable table, for functions that put them into SQL: svc_private.select_matches(),
-- svc.search_vector(), svc_hidden.search_cosines(), svc.search_snippets().
--
-- A caller chooses a table by its name and nothing else. Its identifiers and types come from its declaration and from
-- the catalog, because caller's text in SQL would run with the rights of the executing function.
--
-- SECURITY DEFINER, because requests may not read the declarations. It reads no row and no index.

create or replace function svc_hidden.search_target(name text)
returns jsonb  -- {table, id, idType, fields, language, corpus, visibility, owner, always}: names of columns
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  declared constant jsonb := (
    select t.definition || jsonb_build_object('table', a.attrelid::regclass::text, 'idType', pg_catalog.format_type(a.atttypid, -1))
      from svc_private.search_tables t
      left join pg_catalog.pg_attribute a
        on a.attrelid = (t.definition ->> 'table')::regclass and a.attname = t.definition ->> 'id'
     where t.name = search_target.name);
begin
  if declared is null then
    raise exception '% is not searchable in this database', search_target.name
      using errcode = '55000', hint = 'Declare it with searchable(), then run svc codegen and svc migrate.';
  end if;
  return declared;
end
$$;

comment on function svc_hidden.search_target(text) is
  'The declaration of a searchable table, with its name as SQL and the type of its key. '
  'Definer: requests may not read the list of searchable tables; it returns only the declaration.';

grant execute on function svc_hidden.search_target(text) to svc_anonymous, svc_authenticated;
