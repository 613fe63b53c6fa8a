-- The part of a statement that may be shown: without literal values and comments, on one line. PostgreSQL keeps the
-- text of a running statement unchanged, and pg_stat_statements that of utility statements, passwords included.
--
-- Words, quoted identifiers, parameters and operators are kept; strings and numbers become a question mark. The output
-- ends at a text in dollar quotes, because what follows cannot be told apart, and at a string that was cut off.

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
           || '|([eE]''(?:[^''\\]|''''|\\.)*''?|(?:[bBxXnN]|[uU]&)?''(?:[^'']|'''')*''?|\d\w*(?:\.\w*)?(?:[eE][+-]?\d+)?)'
           || '|(--[^\n]*|/\*(?:[^*]|\*+[^*/])*(?:\*+/)?)'
           || '|(.)', 'g') with ordinality as found (token, place)
$$;

comment on function svc_private.statement_text(text) is 'A statement without its literal values and comments, at most 500 characters.';
