-- Estimates how many documents a query finds at each score, as if its terms occurred in documents independently of each
-- other. Called by svc_private.find_best(), which takes from it the score where the best documents begin.
--
-- It computes the distribution of a sum, term by term, in 64 steps from zero to the highest possible score. Terms after
-- the first twelve are left out, which makes the estimate too low and the search read more than it needs.

create or replace function svc_private.search_tail(
  term_of integer[],            -- of each posting class that the query meets, the number of its term, in order
  addends double precision[],   -- what its postings add to a score, roughly
  counts bigint[],              -- how many postings it has
  documents double precision,   -- of the group
  step double precision
)
returns double precision[]      -- [n]: documents that reach n * step
language plpgsql
immutable
set search_path = ''
as $$
declare
  most_terms constant integer := 12;
  steps constant integer := 64;
  share double precision[] := array[1.0];  -- of the documents that reach place - 1 steps, so far
  sums double precision[];
  without double precision;
  first integer := 1;
  last integer := 0;
  added integer;
  reached integer;
begin
  for number in 1 .. least(term_of[cardinality(term_of)], most_terms) loop
    first := last + 1;
    without := 1;
    while term_of[last + 1] = number loop
      last := last + 1;
      without := without - counts[last] / documents;
    end loop;
    sums := array(select s * greatest(without, 0) from unnest(share) as s);
    reached := floor((select max(a) from unnest(addends[first : last]) as a) / step);
    sums := sums || array_fill(0.0::double precision, array[least(1 + steps - cardinality(share), reached)]);
    for class in first .. last loop
      added := floor(addends[class] / step);
      for place in 1 .. least(cardinality(share), 1 + steps - added) loop
        sums[place + added] := sums[place + added] + share[place] * counts[class] / documents;
      end loop;
    end loop;
    share := sums;
  end loop;
  return array(
    select documents * sum(s) over (order by place desc)
      from unnest(share) with ordinality as u (s, place) where place > 1 order by place
  );
end
$$;

comment on function svc_private.search_tail(integer[], double precision[], bigint[], double precision, double precision) is
  'Expected number of documents that reach each 64th of the highest score of a query.';
