-- The passage of one text with the most words of a query, as svc.search_snippets() found it before svc_hidden.search_passages()
-- looked at all texts of a page together: the reference of snippets.test.ts.

create function reference_snippet(content text, query text, prefix boolean, language text)
returns table (matches integer, parts jsonb)
language sql
stable
set search_path = ''
as $$
  with begun as (
    select word from svc_private.search_words(svc_private.search_begun(query, prefix)) as word
  ), asked as (
    select distinct t.term from svc_private.search_words(query) as word
     cross join lateral svc_private.search_terms(word, language::regconfig) as t (term)
  ), piece as materialized (
    -- Each word or character with the text before it. A character counts as half a word.
    select p.place, p.found[1] as gap, coalesce(p.found[2], p.found[3]) collate "C" as word, p.found[2] is not null as is_character,
           sum(case when p.found[2] is not null then 1 else 2 end) over (order by p.place) as at
      from regexp_matches(content,
        '([\u0001-/:-@\[-`{-\u00bf\u00d7\u00f7\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\u30fb\ufe00-\ufe0f\uff00-\uff0f]*)(?:([\u3005-\u3007\u3040-\u30fa\u30fc-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff][\u3099\u309a]?)|([^\u0001-/:-@\[-`{-\u00bf\u00d7\u00f7\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3020\u3030\u3040-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe00-\ufe0f\uff00-\uff0f\U00020000-\U0003ffff]+))', 'g')
        with ordinality as p (found, place)
  ), pair as (
    -- A character and the next one of its run; alone if the run has only one.
    select n.place, n.is_last, case when n.is_last then n.word else n.word || n.next end as word
      from (
        select p.*, lead(p.word) over near as next,
               lead(p.is_character and p.gap = '') over near is not true as is_last,
               p.gap = '' and lag(p.is_character) over near is true as follows
          from piece p window near as (order by p.place)
      ) as n
     where n.is_character and not (n.is_last and n.follows)
  ), word as (
    select p.place, p.place as final, p.word from piece p where not p.is_character
    union all
    select p.place, p.place + case when p.is_last then 0 else 1 end, p.word from pair p
  ), hit as materialized (
    select d.word, min(t.term collate "C") as term
      from (select distinct word from word) as d
     cross join lateral svc_private.search_words(d.word) as w (word)
     cross join lateral svc_private.search_terms(w.word, language::regconfig) as t (term)
     where t.term in (select term from asked)
        or exists (select from begun b where starts_with(t.term, b.word))
     group by 1
  ), matched as materialized (
    select w.place, w.final, p.at, h.term from word w join hit h using (word) join piece p using (place)
  ), best as materialized (
    select coalesce((
      select w.at
        from (select m.at, array_agg(m.term collate "C") over (order by m.at range between current row and 58 following) as terms from matched m) as w
       order by (select count(distinct term) from unnest(w.terms) as term) desc, w.at
       limit 1
    ), 1) as at
  ), marked as (
    select p.place, p.gap, p.word,
           exists (select from matched m where p.place between m.place and m.final) as match
      from piece p, best b where p.at between b.at - 10 and greatest(b.at - 10, 1) + 79
  ), part as (
    select m.place, part.match, part.text,
           row_number() over (order by m.place, part.nth) - row_number() over (partition by part.match order by m.place, part.nth) as stretch,
           part.nth
      from marked m
     cross join lateral (values (0, left(m.gap, 200), false), (1, left(m.word, 200), m.match)) as part (nth, text, match)
     where part.text <> ''
  )
  select (select count(distinct m.term)::integer from matched m),
         coalesce((
           select jsonb_agg(jsonb_build_object('text', joined.text, 'match', joined.match) order by joined.place, joined.nth)
             from (
               select p.match, string_agg(p.text, '' order by p.place, p.nth) as text, min(p.place) as place,
                      (array_agg(p.nth order by p.place, p.nth))[1] as nth
                 from part p group by p.match, p.stretch
             ) as joined
         ), '[]')
$$;
