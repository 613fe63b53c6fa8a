-- A condition on svc_private.search_documents, named d: the document has one of the postings with the highest addends,
-- as many of these as are wanted. Called by svc_private.find_best().

create or replace function svc_private.search_first(
  tops double precision[],    -- of each class of postings, upper bound of what one of them adds
  counts bigint[],            -- how many postings it has
  keys bigint[],              -- its svc_private.search_key()
  wanted double precision     -- postings; the last class may exceed it
)
returns text
language sql
immutable
set search_path = ''
as $$
  select format('d.keys && %L::bigint[]', array_agg(c.key))
    from (
      select u.key, sum(u.n) over (order by u.top desc, u.key) - u.n as before from unnest(keys, tops, counts) as u (key, top, n)
    ) as c
   where c.before < wanted
$$;

comment on function svc_private.search_first(double precision[], bigint[], bigint[], double precision) is
  'Condition for documents with the postings that add most to a score, as SQL over the index of keys.';
