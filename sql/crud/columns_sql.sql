-- Columns of the alias t as a select list, each once. Called by svc.find_rows(), svc.find_row(), svc.list_statement(),
-- svc.get_statement() and svc_hidden.related_rows() for the plain columns that their JSON is made of. Not t.*: a role may lack
-- access to a hidden column.

create or replace function svc_hidden.columns_sql(names text[])
returns text
language sql
immutable
as $$
  select string_agg(distinct format('t.%I', name), ', ') from unnest(names) as name
$$;

comment on function svc_hidden.columns_sql(text[]) is
  'Columns as a select list over t. Part of svc_hidden.related_rows(). '
  'lint:allow function_without_search_path: it runs under that of its callers, and setting one takes longer than it.';

grant execute on function svc_hidden.columns_sql(text[]) to svc_anonymous, svc_authenticated;
