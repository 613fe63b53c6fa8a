-- The condition of a text search, for svc.find_rows() and svc.list_statement(): one of the columns contains the text, in
-- upper or lower case.
--
-- Here `%` and `_` are literal characters; in the filters `like` and `ilike` they are wildcards. The search does not
-- rank or stem, and treats several words as one text.
--
-- `search` is the pattern as SQL: a quoted literal, or an expression over a parameter.

create or replace function svc_hidden.search_sql(columns jsonb, search text)
returns text  -- null when there is no pattern or no column
language sql
immutable
set search_path = ''
as $$
  select '(' || string_agg(format('t.%I::text ilike %s', name, search), ' or ' order by position) || ')'
    from jsonb_array_elements_text(columns) with ordinality as fields (name, position)
   where search is not null
$$;

comment on function svc_hidden.search_sql(jsonb, text) is
  'SQL condition: one of the columns has the pattern; null without pattern or column. Part of svc.find_rows().';

grant execute on function svc_hidden.search_sql(jsonb, text) to svc_anonymous, svc_authenticated;
