-- Completions of a query's last word: terms of a group that begin with it. Called by svc_private.find_matches().
--
-- Terms are stems: "moori" begins no term where "mooring" is stored as "moor". The word itself is left out, because it
-- is already a term of the query.

create or replace function svc_private.search_endings(searched integer, query text, most integer)
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
  select c.term, 1
    from last join svc_private.search_counters c
      on c.group_id = searched and c.term > last.word and c.term < last.word || U&'\+10FFFF'
   group by c.term
  having sum(c.documents) > 0
   order by sum(c.documents) desc, c.term
   limit most
$$;

comment on function svc_private.search_endings(integer, text, integer) is
  'Terms of a group that begin with the last word of a query, the commonest first.';
