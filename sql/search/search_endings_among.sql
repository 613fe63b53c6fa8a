-- As svc_private.search_endings(), for given rows of a group: endings that only other rows have do not count. Part of
-- svc_private.find_matches(), for the case that policies and filters leave out most rows that the commonest endings
-- find.
--
-- It reads the keys of each row. Where there are very many rows, it reads a sample of them.

create or replace function svc_private.search_endings_among(
  searched integer,
  width integer,
  query text,  -- the words that are completed: svc_private.search_begun()
  row_ids text[],
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
      select c.term, svc_private.search_key(searched, c.term, 0, 0, width) as low
        from begun join svc_private.search_counters c
          on c.group_id = searched and c.term > begun.word and c.term < begun.word || U&'\+10FFFF'
       group by 1
    ) as t
    join (
      select k.key & ~((1 << (8 + width)) - 1)::bigint as low, count(*) as n
        from (
          select d.keys from svc_private.search_documents d
           where d.table_id = (select g.table_id from svc_private.search_groups g where g.id = searched)
             and d.row_id = any (row_ids) and d.group_id = searched
           limit 20000
        ) as d
       cross join lateral unnest(d.keys) as k (key)
       group by 1
    ) as k using (low)
   order by k.n desc, t.term
   limit most
$$;

comment on function svc_private.search_endings_among(integer, integer, text, text[], integer) is
  'Terms of given rows that begin with one of some words, the commonest first.';
