-- The condition of a text search, for svc.find_rows(): one of the columns contains the text, in upper or lower case.
--
-- Here `%` and `_` are literal characters; in the filters `like` and `ilike` they are wildcards. The search does not
-- rank or stem, and treats several words as one text.

create or replace function svc_hidden.search_sql(columns jsonb, search text)
returns text  -- null when there is no text to search for, or no column
language sql
immutable
set search_path = ''
as $$
  select '(' || string_agg(
           format('t.%I::text ilike %L', name, '%' || regexp_replace(search, '([\\%_])', '\\\1', 'g') || '%'),
           ' or ' order by position) || ')'
    from jsonb_array_elements_text(columns) with ordinality as fields (name, position)
   where search <> ''
$$;

comment on function svc_hidden.search_sql(jsonb, text) is
  'SQL condition: the text occurs in one of the columns; null without text or column.';

grant execute on function svc_hidden.search_sql(jsonb, text) to svc_anonymous, svc_authenticated;
