-- Which rows a relation leads to: the columns of the outer t that they are found by, passed on as k, and the condition on
-- the related row, which is t then. Called by svc_hidden.related_rows() and svc_hidden.related_counts().
--
-- A join table is read under its own policies; a row that it names twice comes once. Soft deletion and the filters that
-- callers may use are those of the related resource.
--
--   relation   {to, many, local, foreign, through?} of the code generator
--   filters    of the caller, for a relation to many rows

create or replace function svc_hidden.related_link(
  relation jsonb, target jsonb, filters jsonb, out keys text, out condition text
)
language plpgsql
stable
as $$
declare
  through constant jsonb := relation -> 'through';
begin
  select string_agg(format('t.%I as k%s', l.name, l.position), ', ') into keys
    from jsonb_array_elements_text(relation -> 'local') with ordinality as l (name, position);

  select string_agg(format('t.%I = k.k%s', f.name, f.position), ' and ') into condition
    from jsonb_array_elements_text(coalesce(through -> 'local', relation -> 'foreign')) with ordinality as f (name, position);
  if through is not null then
    condition := format('(%s) in (select %s from %s as t where %s)',
      svc_hidden.names_sql(relation -> 'foreign'), svc_hidden.names_sql(through -> 'foreign'), through ->> 'table',
      concat_ws(' and ', through ->> 'visible', condition));
  end if;
  condition := concat_ws(' and ', condition, target ->> 'visible',
    case when (relation -> 'many')::boolean then
      svc_hidden.filter_sql((target -> 'filters') || coalesce(target -> 'relations', '{}'), filters) end);
end
$$;

comment on function svc_hidden.related_link(jsonb, jsonb, jsonb) is
  'The keys and the condition of the rows behind a relation, as SQL. Part of svc_hidden.related_rows(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and setting one takes longer than it.';

grant execute on function svc_hidden.related_link(jsonb, jsonb, jsonb) to svc_anonymous, svc_authenticated;
