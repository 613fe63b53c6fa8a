-- The group that a keyword search covers, with its totals over the chosen fields. Called by svc_private.find_matches().
--
-- `id` and `documents` are null where no such rows are stored.

create or replace function svc_private.search_group(
  target text,
  fields text[],
  corpus text,
  visibility text,
  owner_id text,
  out table_id integer,
  out id integer,
  out language regconfig,
  out places integer[],           -- of the fields, in the declaration
  out is_whole boolean,           -- all fields are chosen
  out documents double precision,
  out average double precision,   -- length of a document
  out k1 double precision,        -- of BM25
  out b double precision
)
language plpgsql
stable
as $$
#variable_conflict use_column
declare
  indexed svc_private.search_tables;
begin
  select * into indexed from svc_private.search_tables t where t.name = search_group.target;
  if indexed.id is null then
    raise exception '% is not searchable in this database', search_group.target
      using errcode = '55000', hint = 'Declare it with searchable(), then run svc codegen and svc migrate.';
  end if;
  table_id := indexed.id;
  language := indexed.definition ->> 'language';
  places := array(
    select p.place::integer
      from (select distinct unnest(search_group.fields) as field) as f
      left join jsonb_array_elements_text(indexed.definition -> 'fields') with ordinality as p (field, place) using (field)
  );
  if cardinality(places) = 0 or array_position(places, null) is not null then
    raise exception 'unknown field for a search in %', search_group.target using errcode = '22023';
  end if;
  select c.k1, c.b into k1, b from svc_private.search_constants(indexed.definition) as c;
  is_whole := cardinality(places) = jsonb_array_length(indexed.definition -> 'fields');

  id := (
    select g.id from svc_private.search_groups g
     where g.table_id = indexed.id and g.corpus = search_group.corpus and g.visibility = search_group.visibility
       and g.owner_id is not distinct from case when search_group.visibility = 'private' then search_group.owner_id end
  );
  select sum(t.documents), sum((select sum(t.lengths[p]) from unnest(search_group.places) as p))
    into documents, average
    from svc_private.search_totals t where t.group_id = search_group.id;
  average := greatest(average / nullif(documents, 0), 1);
end
$$;

comment on function svc_private.search_group(text, text[], text, text, text) is
  'The group that a keyword search covers, with its totals. Part of svc_private.find_matches(). '
  'lint:allow function_without_search_path: it runs under that of svc_private.find_matches().';
