-- Completions of some words of a query, svc_private.search_begun(): terms of a group that begin with one of them. Called by
-- svc_private.find_matches() and svc_private.explain_match().
--
-- Terms are stems: "moori" begins no term where "mooring" is stored as "moor". The words themselves are left out, because
-- they are already terms of the query.

create or replace function svc_private.search_endings(
  searched integer,
  width integer,
  query text,  -- the words that are completed: svc_private.search_begun()
  most integer
)
returns table (term text, n bigint)
language sql
stable
set search_path = ''
as $$
  with begun as (
    select word collate "C" as word from svc_private.search_words(query) as word
  )
  select t.term, 1
    from (
      select distinct c.term
        from begun join svc_private.search_counters c
          on c.group_id = searched and c.term > begun.word and c.term < begun.word || U&'\+10FFFF'
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
  'Terms of a group that begin with one of some words, the commonest first.';
