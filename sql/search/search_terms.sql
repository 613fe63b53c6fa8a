-- The terms by which a word is found. Called for each distinct word by svc_private.index_texts(), and for those of a
-- query by svc_private.read_query().
--
-- Words are stemmed by a text search configuration; its stop words are not terms. Korean, Japanese and Chinese are
-- written without spaces between words: their runs become pairs of characters, whatever the configuration, so that a
-- compound is found by its parts.
--
-- The English stemmer keeps the s of words with no other vowel than one before it: "pdfs", "rnas". They are plurals of
-- acronyms in lower case, and lose it. Words of three letters keep it, because "dns" and "tls" are no plurals.
--
-- No SET clause, so that PostgreSQL inlines it: it is called for each word.

create or replace function svc_private.search_terms(word text, language regconfig)
returns setof text
language sql
stable
as $$
  select term
    from (
      select word as run where octet_length(word) = length(word)
      union all
      select run[1] from regexp_matches(word, '[\u1100-\u11ff\u3005-\u3007\u3040-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+|[^\u1100-\u11ff\u3005-\u3007\u3040-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]+', 'g') as run
       where octet_length(word) <> length(word)
    ) as runs
   cross join lateral (
     select substr(run, i, 2) as term
       from generate_series(1, greatest(length(run) - 1, 1)) as i
      where octet_length(run) <> length(run) and run ~ '^[\u1100-\u11ff\u3005-\u3007\u3040-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]'
     union all
     select case
              when language = 'pg_catalog.english'::regconfig and stem ~ '^[b-df-hj-np-tv-xz][b-df-hj-np-tv-xz0-9]+[aeo]?s$' and stem !~ '^..s$|ss$' then left(stem, -1)
              else stem
            end
       from unnest(tsvector_to_array(to_tsvector(language, run))) as stem
      where octet_length(run) = length(run) or run !~ '^[\u1100-\u11ff\u3005-\u3007\u3040-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]'
   ) as terms
$$;

comment on function svc_private.search_terms(text, regconfig) is
  'The terms of a word: its stem, or pairs of characters if it is Korean, Japanese or Chinese. None for a stop word. '
  'lint:allow function_without_search_path: SET would prevent inlining; it calls only built-in functions.';
