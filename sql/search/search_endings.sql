-- Completions of a query's last word: terms of a group that begin with it. Called by svc_private.find_matches().
--
-- Terms are stems: "moori" begins no term where "mooring" is stored as "moor". The word itself is left out, because it
-- is already a term of the query.

create or replace function svc_private.search_endings(searched integer, width integer, query text, most integer)
returns table (term text, n bigint)
language sql
stable
set search_path = ''
as $$
  with last as (
    select w.word collate "C" as word
      from svc_private.search_words(query) with ordinality as w (word, place)
     order by place desc limit 1
  )
  select t.term, 1
    from (
      select distinct c.term
        from last join svc_private.search_counters c
          on c.group_id = searched and c.term > last.word and c.term < last.word || U&'\+10FFFF'
    ) as t
   cross join lateral (select svc_private.search_key(searched, t.term, 0, 0, width) as low offset 0) as k
   cross join lateral (
     select sum(c.documents) as n from svc_private.search_counters c
      where c.group_id = searched and c.key between k.low and k.low | (1 << (8 + width)) - 1
   ) as c
   where c.n > 0
   order by c.n desc, t.term
   limit most
$$;

comment on function svc_private.search_endings(integer, integer, text, integer) is
  'Terms of a group that begin with the last word of a query, the commonest first.';
