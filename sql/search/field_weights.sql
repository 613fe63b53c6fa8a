-- How much a word of each field counts, in the order of the fields that a searchable table declares; null where all count
-- alike. Called by svc_private.search_group() and svc_private.explain_match(). svc_private.find_matches() has the formula.

create or replace function svc_private.field_weights(definition jsonb)
returns integer[]
language plpgsql  -- which keeps its plan between searches; language sql does not
immutable
set search_path = ''
as $$
begin
  if definition #> '{bm25,weights}' is null then  -- a statement would cost each search its time
    return null;
  end if;
  return array(
    select w.weight::integer
      from jsonb_array_elements_text(definition #> '{bm25,weights}') with ordinality as w (weight, place) order by w.place
  );
end
$$;

comment on function svc_private.field_weights(jsonb) is 'How much a word of each field of a searchable table counts; null: alike.';
