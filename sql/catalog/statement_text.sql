-- A statement as far as it may be shown: without literal values and comments, on one line. PostgreSQL keeps the running text
-- as it came, and pg_stat_statements that of utility statements, passwords and all.
--
-- Kept are words, quoted identifiers, parameters and signs; strings and numbers become a question mark. A text in dollar
-- quotes ends what is shown: what follows cannot be told apart. So does a string that was cut off.

create or replace function svc_private.statement_text(query text)
returns text
language sql
immutable
set search_path = ''
as $$
  select left(btrim(regexp_replace(string_agg(
           case when token[1] is not null then token[1]
                when token[2] is not null then '?'
                when token[3] is not null then ' '
                else token[4] end, '' order by place), '\s+', ' ', 'g')), 500)
    from regexp_matches(
           regexp_replace(query, '\$([[:alpha:]_]\w*)?\$.*', '?'),
           '("(?:[^"]|"")*"?|[[:alpha:]_][\w$]*|\$\d+)'
           || '|([eE]''(?:[^''\\]|''''|\\.)*''?|(?:[bBxXnN]|[uU]&)?''(?:[^'']|'''')*''?|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)'
           || '|(--[^\n]*|/\*(?:[^*]|\*+[^*/])*(?:\*+/)?)'
           || '|(.)', 'g') with ordinality as found (token, place)
$$;

comment on function svc_private.statement_text(text) is 'A statement without its literal values and comments, at most 500 characters.';
