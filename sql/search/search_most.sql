-- A condition on svc_private.search_documents, named d, that is fulfilled by about as many documents as may be opened:
-- roughly those with the most of a query's rarest terms. Called by svc_private.find_best() where more documents
-- might be among the best.
--
-- Terms are distributed over groups, and a document must have a term of each group: the more groups, the fewer
-- documents. The number of groups follows from the counts, as if words occurred in documents independently of each
-- other.

create or replace function svc_private.search_most(
  term_of integer[],          -- of each class of postings, the number of its term, the rarest first
  counts bigint[],            -- how many postings it has
  keys bigint[],              -- its svc_private.search_key()
  documents double precision, -- of the group
  wanted double precision     -- documents
)
returns text
language plpgsql
immutable
set search_path = ''
as $$
declare
  most_terms constant integer := 40;
  absent constant double precision[] := array(  -- of each term, the share of documents that lack it
    select greatest(1 - sum(n) / documents, 1e-9) from unnest(term_of, counts) as u (number, n)
     where number <= most_terms group by number order by number
  );
  groups integer := 1;
begin
  while groups < cardinality(absent) and wanted < documents * (
    select exp(sum(ln(1 - lacking)))
      from (
        select exp(sum(ln(share))) as lacking from unnest(absent) with ordinality as u (share, number) group by number % groups
      ) as dealt
  ) loop
    groups := groups + 1;
  end loop;

  return (
    select string_agg(format('d.keys && %L::bigint[]', dealt.keys), ' and ')
      from (
        select array_agg(key) as keys from unnest(term_of, keys) as u (number, key)
         where number <= most_terms group by number % groups
      ) as dealt
  );
end
$$;

comment on function svc_private.search_most(integer[], bigint[], bigint[], double precision, double precision) is
  'Condition for documents with the most terms of a query, about as many as may be opened, as SQL over the index of '
  'keys.';
