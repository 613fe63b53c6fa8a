-- The passage of a text with the most words of a query. Called by svc.search_snippets().
--
-- SECURITY DEFINER only to call the functions that split and stem; it reads no table. Words are taken apart as indexing
-- does, but from the text as it stands, so that what is shown is what was written.

create or replace function svc.search_snippet(content text, query text, prefix boolean, language text)
returns table (matches integer, parts jsonb)
language sql
stable
security definer
set search_path = ''
as $$
  with last as (
    select w.word from svc_private.search_words(query) with ordinality as w (word, place) order by place desc limit 1
  ), asked as (
    select distinct t.term from svc_private.search_words(query) as word
     cross join lateral svc_private.search_terms(word, language::regconfig) as t (term)
  ), piece as materialized (
    -- What stands before a word, and the word.
    select p.place, p.found[1] as gap, p.found[2] as word
      from regexp_matches(content,
        '([\u0001-/:-@\[-`{-\u00bf\u00d7\u00f7\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\u30fb\ufe00-\ufe0f\uff00-\uff0f]*)([^\u0001-/:-@\[-`{-\u00bf\u00d7\u00f7\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\u30fb\ufe00-\ufe0f\uff00-\uff0f]+)', 'g')
        with ordinality as p (found, place)
  ), hit as materialized (
    select d.word, min(t.term) as term
      from (select distinct word from piece) as d
     cross join lateral svc_private.search_words(d.word) as w (word)
     cross join lateral svc_private.search_terms(w.word, language::regconfig) as t (term)
     where t.term in (select term from asked)
        or prefix and starts_with(t.term, (select word from last))
     group by 1
  ), matched as materialized (
    select p.place, h.term from piece p join hit h using (word)
  ), best as (
    select coalesce((
      select m.place from matched m
       order by (select count(distinct o.term) from matched o where o.place between m.place and m.place + 29) desc, m.place
       limit 1
    ), 1) as place
  ), shown as (
    select greatest(b.place - 5, 1) as first, greatest(b.place - 5, 1) + 39 as final from best b
  ), marked as (
    select p.place, p.gap, p.word, exists (select from hit h where h.word = p.word) as match
      from piece p, shown s where p.place between s.first and s.final
  )
  select (select count(distinct m.term)::integer from matched m),
         coalesce((
           select jsonb_agg(jsonb_build_object('text', part.text, 'match', part.match) order by m.place, part.match)
             from marked m
            cross join lateral (values (left(m.gap, 200), false), (left(m.word, 200), m.match)) as part (text, match)
            where part.text <> ''
         ), '[]')
$$;

comment on function svc.search_snippet(text, text, boolean, text) is
  'How many terms of a query a text has, and its passage with most of them as [{text, match}].';

grant execute on function svc.search_snippet(text, text, boolean, text) to svc_anonymous, svc_authenticated;
