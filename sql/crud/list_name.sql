-- What a cursor is bound to: the resource, order, filters and search of its list, and the user who asks. Called by
-- svc.find_rows(), and by the statements of svc.list_statement(). A text that is searched has a mark in front: it could be
-- that of filters.

create or replace function svc_hidden.list_name(resource text, order_by text, direction text, filters text, search text)
returns text
language sql
stable
as $$
  select pg_catalog.md5(pg_catalog.concat_ws(pg_catalog.chr(31), resource, order_by, direction, filters,
    pg_catalog.chr(30) || search, coalesce(svc.current_user_id(), '')))
$$;

comment on function svc_hidden.list_name(text, text, text, text, text) is
  'What the cursors of a list are bound to, as a hash. Part of svc.find_rows() and svc.list_statement(). '
  'lint:allow function_without_search_path: SET would prevent inlining; all names are qualified.';

grant execute on function svc_hidden.list_name(text, text, text, text, text) to svc_anonymous, svc_authenticated;
