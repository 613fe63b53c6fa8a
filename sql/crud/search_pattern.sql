-- The text of a search as a pattern of ilike that contains it: `%`, `_` and the backslash stand for themselves.

create or replace function svc_hidden.search_pattern(search text)
returns text
language sql
immutable
strict
as $$
  select '%' || pg_catalog.regexp_replace(search, '([\\%_])', '\\\1', 'g') || '%'
$$;

comment on function svc_hidden.search_pattern(text) is
  'The text of a search as a pattern of ilike. Part of svc_hidden.search_sql(). '
  'lint:allow function_without_search_path: inlined, it costs nothing per row.';

grant execute on function svc_hidden.search_pattern(text) to svc_anonymous, svc_authenticated;
