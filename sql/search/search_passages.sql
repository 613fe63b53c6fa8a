-- The passage of each of several texts with the most words of a query. Called by svc.search_snippets().
--
-- SECURITY DEFINER only to call the functions that split and stem; it reads no table. It splits words as indexing does,
-- but keeps the original text, so that the snippet shows the text as written. In Korean, Japanese and Chinese each
-- character is a piece, and a pair of characters that the query has marks both. Text in conjoining letters is marked
-- run by run, because its pairs are known only in composed form.
--
-- All texts are looked at in one statement, so that a word that many of them have is stemmed once. A cheap test leaves out
-- nearly all words: it compares the lexemes of the whole word. svc_private.search_terms() decides about those that pass.
-- A text is an array of pieces, and only pieces that may be marked become rows: a row costs more than a piece.

create or replace function svc_hidden.search_passages(contents text[], query text, prefix boolean, language text)
returns table (nth integer, matches integer, parts jsonb)
language plpgsql  -- keeps its plan; an SQL function plans in each call
stable
security definer
set search_path = ''
set jit = off
set plan_cache_mode = force_generic_plan
set enable_nestloop = off  -- the planner does not know how many words a text has
set enable_sort = off
as $$
#variable_conflict use_column
declare
  -- Members of bracket expressions: what stands between words, and what is a piece by itself.
  separators constant text := '\u0001-/:-@\[-`{-\u00bf\u00d7\u00f7\u2000-\u206f\u20a0-\u20cf\u2190-\u2bff\u3000-\u3004\u3008-\u3020\u3030\u30fb\ufe00-\ufe0f\uff00-\uff0f';
  characters constant text := '\u3005-\u3007\u3040-\u30fa\u30fc-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003ffff';
  -- A character may have a mark of voicing behind it.
  piece_pattern constant text := format('[%1$s]*(?:[%2$s][\u3099\u309a]?|[^%1$s%2$s]+)', separators, characters);
begin
  return query
  with begun as materialized (
    select word from svc_private.search_words(svc_private.search_begun(query, prefix)) as word
  ), asked as materialized (
    select distinct t.term collate "C" as term from svc_private.search_words(query) as word
     cross join lateral svc_private.search_terms(word, language::regconfig) as t (term)
  ), likely as materialized (
    -- Lexemes of words that may match. svc_private.search_terms() may take an s from a lexeme.
    select string_agg(quoted.lexeme, '|')::tsquery as lexemes
      from (
        select '''' || replace(replace(a.term || ending, '\', '\\'), '''', '''''') || ''''
          from asked a cross join unnest(array['', 's']) as ending
        union all
        select '''' || b.word || ''':*' from begun b
      ) as quoted (lexeme)
  ), content as materialized (
    -- A piece is a word or a character, with the text before it.
    select c.nth::integer as nth, array(
        select (regexp_matches(c.content, piece_pattern, 'g'))[1]
      ) as pieces
      from unnest(contents) with ordinality as c (content, nth)
  ), spelling as materialized (
    -- Each different piece, in its two parts.
    select s.piece, left(s.piece, -length(s.word)) as gap, s.word collate "C" as word,
           octet_length(s.word) <> length(s.word) and s.word ~ ('^[' || characters || ']') as is_character
      from (
        select d.piece, regexp_replace(d.piece, '^[' || separators || ']+', '') as word
          from (select distinct p.piece collate "C" as piece from (select unnest(c.pieces) as piece from content c) as p) as d
        offset 0  -- else each use of the word would split again
      ) as s
  ), word_hit as materialized (
    select d.word, min(t.term collate "C") as term
      from (
        select s.word from (select distinct word from spelling where not is_character) as s cross join likely l
         where case when octet_length(s.word) = length(s.word) or length(s.word) <= 200 and s.word is nfkc normalized and s.word !~ '[\u1100-\u11ff\ua960-\ua97f]'
                 then to_tsvector(language::regconfig, left(lower(s.word), 200)) @@ l.lexemes or s.word ~ '^[A-Z][A-Z0-9]+s$'
                 else true
               end
      ) as d
     cross join lateral svc_private.search_words(d.word) as w (word)
     cross join lateral svc_private.search_terms(w.word, language::regconfig) as t (term)
     where t.term in (select term from asked) or exists (select from begun b where starts_with(t.term, b.word))
     group by 1
  ), kept as materialized (
    select s.*, h.term
      from spelling s left join word_hit h on h.word = s.word and not s.is_character
     where s.is_character or h.term is not null or length(s.piece) > 200
  ), cut as materialized (
    -- The pieces that are needed one by one: marked words, characters, and those that are shown in part. A character
    -- counts as half a word.
    select p.nth, p.place, k.gap, k.word, k.is_character, k.term,
           (2 * p.place - count(*) filter (where k.is_character) over (partition by p.nth order by p.place))::integer as at
      from (select c.nth, unnest(c.pieces) as piece, generate_subscripts(c.pieces, 1) as place from content c) as p
      join kept k on k.piece = p.piece collate "C"
  ), pair as materialized (
    -- A character and the next one of its run; alone if the run has only one.
    select n.nth, n.place, n.at, n.is_last, case when n.is_last then n.word else n.word || n.next end as word
      from (
        select c.nth, c.place, c.at, c.word, lead(c.word) over near as next,
               (lead(c.place) over near = c.place + 1 and lead(c.gap) over near = '') is not true as is_last,
               c.gap = '' and (lag(c.place) over near = c.place - 1) is true as follows
          from cut c where c.is_character window near as (partition by c.nth order by c.place)
      ) as n
     where not (n.is_last and n.follows)
  ), pair_hit as materialized (
    select d.word, min(t.term collate "C") as term
      from (
        select distinct p.word from pair p
         where case when length(p.word) <= 2 and p.word is nfkc normalized
                 then p.word in (select term from asked) or exists (select from begun b where starts_with(p.word, b.word))
                 else true
               end
      ) as d
     cross join lateral svc_private.search_words(d.word) as w (word)
     cross join lateral svc_private.search_terms(w.word, language::regconfig) as t (term)
     where t.term in (select term from asked) or exists (select from begun b where starts_with(t.term, b.word))
     group by 1
  ), marked_pair as materialized (
    select p.nth, p.place, p.at, p.is_last, h.term from pair p join pair_hit h using (word)
  ), marked as materialized (
    select c.nth, c.at, c.term from cut c where c.term is not null
    union all
    select p.nth, p.at, p.term from marked_pair p
  ), best as (
    select distinct on (w.nth) w.nth, w.at
      from (
        select m.nth, m.at, (select count(distinct term) from unnest(m.terms) as term) as n
          from (
            select nth, at, array_agg(term) over (partition by nth order by at range between current row and 58 following) as terms
              from marked
          ) as m
      ) as w
     order by w.nth, w.n desc, w.at
  ), bounds as materialized (
    select c.nth, c.pieces, coalesce(b.at, 1) - 10 as least, greatest(coalesce(b.at, 1) - 10, 1) + 79 as most
      from content c left join best b using (nth)
  ), passage as materialized (
    -- Of n places before a position, each is two positions, or one if it is a character.
    select b.nth, b.pieces, b.least, b.most,
           greatest((b.least - 1 + n.before) / 2, 0)::integer + 1 as first, ((b.most + n.within) / 2)::integer as final
      from bounds b
      join (
        select b.nth, count(*) filter (where c.at < b.least) as before, count(c.at) as within
          from bounds b left join cut c on c.nth = b.nth and c.is_character and c.at <= b.most
         group by 1
      ) as n using (nth)
  ), shown as (
    select c.nth, c.place, lag(c.place, 1, p.first - 1) over (partition by c.nth order by c.place) as previous, c.gap, c.word,
           c.term is not null or c.is_character and (c.nth, c.place) in (
             select m.nth, m.place from marked_pair m union all select m.nth, m.place + 1 from marked_pair m where not m.is_last
           ) as match
      from passage p join cut c on c.nth = p.nth and c.place between p.first and p.final
  ), part as (
    select s.nth, s.place, part.n, part.match, part.text
      from shown s join passage p using (nth)
     cross join lateral (values
       (0, array_to_string(p.pieces[s.previous + 1 : s.place - 1], '') || left(s.gap, 200), false),
       (1, left(s.word, 200), s.match)
     ) as part (n, text, match)
     where part.text <> ''
    union all
    select p.nth, p.final + 1, 0, false, rest.text
      from passage p
      left join (select s.nth, max(s.place) as place from shown s group by 1) as s using (nth)
     cross join lateral (select array_to_string(p.pieces[coalesce(s.place + 1, p.first) : p.final], '') as text) as rest
     where rest.text <> ''
  ), joined as (
    select p.nth, p.match, min(p.place) as place, string_agg(p.text, '' order by p.place, p.n) as text
      from (
        select part.*, row_number() over (partition by nth order by place, n)
                     - row_number() over (partition by nth, match order by place, n) as stretch
          from part
      ) as p
     group by p.nth, p.match, p.stretch
  )
  select c.nth, coalesce(m.terms, 0), coalesce(j.parts, '[]')
    from content c
    left join (select nth, count(distinct term)::integer as terms from marked group by 1) as m using (nth)
    left join (
      select nth, jsonb_agg(jsonb_build_object('text', text, 'match', match) order by place, match) as parts from joined group by 1
    ) as j using (nth);
end
$$;

comment on function svc_hidden.search_passages(text[], text, boolean, text) is
  'For each of several texts how many terms of a query it has, and its passage with most of them as [{text, match}]. '
  'Definer: the functions for splitting and stemming are internal; it reads no table.';

grant execute on function svc_hidden.search_passages(text[], text, boolean, text) to svc_anonymous, svc_authenticated;
