-- Finds a column or table in the text of an expression: its name as pg_get_expr() writes it, with no letter that means
-- something else in a regular expression. Called by views of the linter.

create or replace function svc_private.name_pattern(name text)
returns text
language sql
immutable
set search_path = ''
as $$
  select regexp_replace(quote_ident(name), '([$^.|?*+(){}\[\]\\])', '\\\1', 'g')
$$;

comment on function svc_private.name_pattern(text) is 'Regular expression of a quoted identifier.';
