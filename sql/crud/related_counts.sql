-- The numbers of rows behind relations as JSON, as a SQL expression over the row t that has the relations: {comments: 3}.
-- Called by svc_hidden.related_item().
--
-- Counted are the rows that svc_hidden.related_rows() would give without a limit: those that the caller may see and that
-- the filters let pass.
--
--   relations   of the resource
--   wanted      {<relation>: true or {filters}} of the caller; what is no relation to many rows is left out

create or replace function svc_hidden.related_counts(relations jsonb, wanted jsonb)
returns text
language plpgsql
stable
as $$
declare
  members text[] := '{}';
  relation jsonb;
  target jsonb;
  link record;
  name text;
  options jsonb;
begin
  for name, options in select e.key, e.value from jsonb_each(wanted) as e loop
    relation := relations -> name;
    continue when relation is null or not (relation -> 'many')::boolean;
    target := svc_hidden.crud_resource(relation ->> 'to');
    link := svc_hidden.related_link(relation, target, case when jsonb_typeof(options) = 'object' then options -> 'filters' end);
    members := members || format(
      '%L, (select c.n from (select %s) as k cross join lateral (select count(*) as n from %s as t where %s) as c)',
      name, link.keys, target ->> 'table', link.condition);
  end loop;
  return format('json_build_object(%s)', array_to_string(members, ', '));
end
$$;

comment on function svc_hidden.related_counts(jsonb, jsonb) is
  'The numbers of rows behind relations as JSON, as SQL over t. Part of svc_hidden.related_item(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and setting one takes longer than it.';

grant execute on function svc_hidden.related_counts(jsonb, jsonb) to svc_anonymous, svc_authenticated;
