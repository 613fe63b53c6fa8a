-- The words of a query that also find the terms that begin with them, in one string; null if there are none. They are its
-- last word, if the caller searches by prefix, and each Korean, Japanese or Chinese word of one character: texts in
-- these scripts are indexed by pairs of characters, so such a word is a term only where it stands alone. At most eight
-- words: for each, all terms that begin with it are read.

create or replace function svc_private.search_begun(query text, prefix boolean)
returns text
language sql
immutable
set search_path = ''
as $$
  select string_agg(word, ' ')
    from (
      select word
        from (
          select word, place, prefix and place = max(place) over () as is_prefix
            from svc_private.search_words(query) with ordinality as w (word, place)
        ) as w
       where is_prefix
          or word ~ '^[\u1100-\u11ff\u3005-\u3007\u3040-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff]$'
       group by word
       order by bool_or(is_prefix) desc, min(place)
       limit 8
    ) as w
$$;

comment on function svc_private.search_begun(text, boolean) is
  'The words of a query that also find the terms that begin with them.';
