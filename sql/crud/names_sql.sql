-- A JSON list of column names as a list over the alias t, in the same order. Called by svc_hidden.related_link() and
-- svc_hidden.filter_relation() for the two sides of a comparison.

create or replace function svc_hidden.names_sql(names jsonb)
returns text
language sql
immutable
as $$
  select string_agg(format('t.%I', n.name), ', ' order by n.position)
    from jsonb_array_elements_text(names) with ordinality as n (name, position)
$$;

comment on function svc_hidden.names_sql(jsonb) is
  'Columns as a list over t, in their order. Part of svc_hidden.related_rows(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and setting one takes longer than it.';

grant execute on function svc_hidden.names_sql(jsonb) to svc_request, svc_anonymous, svc_authenticated, svc_system;
