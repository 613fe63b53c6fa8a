-- The words of a text, in lower case, as indexing and queries split it. Next: svc_private.search_terms().
--
-- It splits at listed characters, not at those that the locale does not count as letters: the result must not depend on
-- how the cluster was made, and under the locale C PostgreSQL knows only ASCII letters. NFKC makes full-width letters
-- and composed accents equal to plain ones.
--
-- The plural of an acronym loses its s while its capitals still show what it is: RNAs, PCs and MP3s are found by RNA, PC
-- and MP3. Stemmers do not change most of them.
--
-- No SET clause, so that PostgreSQL inlines it: most of an index's making is splitting texts.

create or replace function svc_private.search_words(content text)
returns setof text
language sql
immutable
as $$
  select left(word, 200)  -- an index entry has a limit, and longer strings are not words
    from unnest(regexp_split_to_array(
      -- NFKC does not change ASCII.
      lower(regexp_replace(
        case when octet_length(content) = length(content) then content else svc_private.search_normal(content) end,
        '\m([A-Z][A-Z0-9]+)s\M', '\1', 'g')),
      '[\u0001-/:-@\[-`{-\u00bf\u00d7\u00f7\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\u30fb\ufe00-\ufe0f\uff00-\uff0f]+'
    )) as word
   where word <> ''
$$;

comment on function svc_private.search_words(text) is 
  'The words of a text, in lower case and in order. '
  'lint:allow function_without_search_path: SET would prevent inlining; it calls only built-in functions.';
