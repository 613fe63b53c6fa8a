-- The body of a function without its comments, for the linter, which looks for words in it. Texts are kept: two dashes in
-- one begin no comment.
--
-- The expression has no non-greedy part. PostgreSQL looks for the longest match of alternatives, and `.*?` would reach from
-- the first comment to the end of the last.

create or replace function svc_private.code_text(source text)
returns text
language sql
immutable
set search_path = ''
as $$
  select regexp_replace(source, '(''(?:[^'']|'''')*'')|--[^\n]*|/\*(?:[^*]|\*+[^*/])*\*+/', '\1', 'g')
$$;

comment on function svc_private.code_text(text) is 'The body of a function without comments.';
