-- The group that a keyword search covers, with its totals over the chosen fields. Called by svc_private.find_matches().
--
-- `group_id` and `documents` are null where no such rows are stored.

create or replace function svc_private.search_group(
  target text,
  fields text[],
  corpus text,
  visibility text,
  owner_id text,
  out searched svc_private.search_query,  -- without a query
  out language regconfig
)
language plpgsql
stable
as $$
#variable_conflict use_column
declare
  definition jsonb;
  constants record;
  average double precision;
begin
  select t.id, t.definition into searched.table_id, definition
    from svc_private.search_tables t where t.name = search_group.target;
  if definition is null then
    raise exception '% is not searchable in this database', search_group.target
      using errcode = '55000', hint = 'Declare it with searchable(), then run svc codegen and svc migrate.';
  end if;
  language := definition ->> 'language';
  searched.width := jsonb_array_length(definition -> 'fields');
  searched.places := '{}';
  searched.bits := 0;
  for place in 1 .. searched.width loop  -- expressions, because a statement takes ten times as long
    if definition -> 'fields' ->> place - 1 = any (search_group.fields) then
      searched.places := searched.places || place;
      searched.bits := searched.bits | (1 << place - 1);
    end if;
  end loop;
  if searched.bits = 0 or not definition -> 'fields' ?& search_group.fields then
    raise exception 'unknown field for a search in %', search_group.target using errcode = '22023';
  end if;
  constants := svc_private.search_constants(definition);
  searched.k1 := constants.k1;
  searched.b := constants.b;
  searched.field_weights := svc_private.field_weights(definition);

  searched.group_id := svc_private.search_group_id(
    searched.table_id, search_group.corpus, search_group.visibility, search_group.owner_id);
  select sum(t.documents), sum((select sum(t.lengths[p]) from unnest(searched.places) as p))
    into searched.documents, average
    from svc_private.search_totals t where t.group_id = searched.group_id;
  searched.average := greatest(average / nullif(searched.documents, 0), 1);
end
$$;

comment on function svc_private.search_group(text, text[], text, text, text) is
  'The group that a keyword search covers, with its totals. Part of svc_private.find_matches(). '
  'lint:allow function_without_search_path: it runs under that of svc_private.find_matches().';
