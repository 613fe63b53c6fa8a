-- A condition on svc_private.search_documents, named d, that every document with a score of `bar` or more fulfils, and
-- few others do. Called by svc_private.find_best().
--
-- Terms come rarest first, each with its classes of postings, highest addends first. A document's first term is the
-- rarest one that it has. If a class of that term reaches `bar` alone, all its postings are included. Otherwise the
-- terms after it have to add the rest. Terms that together add less than the rest are left out, and the document must
-- have a posting of a remaining term. GIN intersects such lists without opening a document. A term whose class,
-- together with all terms after it, adds too little is never a first term.
--
-- The number of such documents is estimated from the counts, as if words occurred in documents independently of each
-- other.

create or replace function svc_private.search_cover(
  term_of integer[],          -- of each class of postings, the number of its term, in order
  tops double precision[],    -- upper bound of what one of its postings adds
  counts bigint[],            -- how many postings it has
  keys bigint[],              -- its svc_private.search_key()
  bar double precision,
  documents double precision  -- of the group
)
returns table (condition text, likely double precision)  -- how many documents are likely to fulfil it
language plpgsql
immutable
set search_path = ''
as $$
declare
  few constant integer := 100;         -- postings; a list of no more is read completely
  most_terms constant integer := 128;  -- longer queries have too many pairs of lists to intersect
  terms constant integer := term_of[cardinality(term_of)];
  first integer[] := array_fill(0, array[terms + 1]);   -- where the classes of a term begin
  rest double precision[] := array_fill(0.0::double precision, array[terms + 1]);  -- what a term and those after it add
  missing double precision;
  partner integer;  -- the last term that is not left out
  final integer;    -- its last class that is not left out
  -- Parts of the condition: a posting of the classes ones to one_ends, and one of the classes others to other_ends. The
  -- latter are null where the first is enough.
  ones integer[] := '{}';
  one_ends integer[] := '{}';
  others integer[] := '{}';
  other_ends integer[] := '{}';
  part integer := 0;
begin
  first[terms + 1] := cardinality(term_of) + 1;
  for class in reverse cardinality(term_of) .. 1 loop
    first[term_of[class]] := class;
  end loop;
  for number in reverse terms .. 1 loop
    rest[number] := rest[number + 1] + tops[first[number]];
  end loop;

  for number in 1 .. terms loop
    exit when rest[number] < bar;
    final := 0;
    if terms > most_terms
       or (select sum(n) from unnest(counts[first[number] : first[number + 1] - 1]) as n) <= few then
      part := part + 1;
      ones[part] := first[number];
      one_ends[part] := first[number + 1] - 1;
      others[part] := null;
      other_ends[part] := null;
      continue;
    end if;
    for class in first[number] .. first[number + 1] - 1 loop
      exit when tops[class] + rest[number + 1] < bar;
      if tops[class] >= bar then
        final := null;
      elsif coalesce(final, 0) = 0 or terms <= 12 then
        missing := bar - tops[class];
        partner := terms;
        while partner > number + 1 and tops[first[partner]] < missing loop
          missing := missing - tops[first[partner]];
          partner := partner - 1;
        end loop;
        final := first[partner + 1] - 1;
        while final > first[partner] and tops[final] < missing loop
          final := final - 1;
        end loop;
      end if;
      if class > first[number] and final is not distinct from other_ends[part] then
        one_ends[part] := class;
      else
        part := part + 1;
        ones[part] := class;
        one_ends[part] := class;
        others[part] := case when final is not null then first[number + 1] end;
        other_ends[part] := final;
      end if;
    end loop;
  end loop;

  return query
  with parts as (
    select keys[p.one : p.one_end] as one, keys[p.other : p.other_end] as other,
           least((select sum(n) from unnest(counts[p.one : p.one_end]) as n) / documents, 1)
             * case when p.other is null then 1 else 1 - exp(-(select sum(n) from unnest(counts[p.other : p.other_end]) as n) / documents) end as share
      from unnest(ones, one_ends, others, other_ends) as p (one, one_end, other, other_end)
  )
  select concat_ws(' or ',
           (select format('d.keys && %L::bigint[]', array_agg(k)) from parts p cross join lateral unnest(p.one) as k where p.other is null),
           string_agg(format('d.keys && %L::bigint[] and d.keys && %L::bigint[]', p.one, p.other), ' or ') filter (where p.other is not null)),
         documents * (1 - exp(sum(ln(greatest(1 - p.share, 1e-9)))))
    from parts p;
end
$$;

comment on function svc_private.search_cover(integer[], double precision[], bigint[], bigint[], double precision, double precision) is
  'A condition that every document with at least a score fulfils, as SQL over the index of keys, and the expected '
  'number of documents.';
