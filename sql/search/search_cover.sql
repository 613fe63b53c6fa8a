-- A condition on svc_private.search_documents, named d, that every document with a score of `bar` or more fulfils, and
-- few others do. Called by svc.find_matches().
--
-- Terms come with the rarest first, each with its classes of postings, those that add most first. A document's first
-- term is the rarest one that it has. If a class of that adds `bar` alone, its postings are wanted whatever else
-- stands in the document. If not, the terms after it have to add what is missing: those that even together add less
-- than that are left out, and the document must have a posting of those that remain. GIN intersects such lists without
-- opening a document. A term whose class and all terms after it add too little is nobody's first term.

create or replace function svc_private.search_cover(
  term_of integer[],          -- of each class of postings, the number of its term, in order
  tops double precision[],    -- what none of its postings adds more than
  counts bigint[],            -- how many postings it has
  keys bigint[],              -- its svc_private.search_key()
  bar double precision  
)
returns text
language plpgsql
immutable
set search_path = ''
as $$
declare
  few constant integer := 100;        -- so short a list is read whole
  most_terms constant integer := 128;  -- of a longer query, no lists are intersected: there are too many pairs
  terms constant integer := term_of[cardinality(term_of)];
  first integer[] := array_fill(0, array[terms + 1]);   -- where the classes of a term begin
  rest double precision[] := array_fill(0.0::double precision, array[terms + 1]);  -- what a term and those after it add
  alone bigint[] := '{}';
  leaders bigint[];           -- classes that need another term, while they need the same
  missing double precision;
  partner integer;            -- the last term that is not left out
  final integer;              -- its last class that is not
  known_final integer;
  arms text[] := '{}';
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
    leaders := '{}';
    known_final := null;
    if terms > most_terms
       or (select sum(n) from unnest(counts[first[number] : first[number + 1] - 1]) as n) <= few then
      alone := alone || keys[first[number] : first[number + 1] - 1];
      continue;
    end if;
    for class in first[number] .. first[number + 1] - 1 loop
      exit when tops[class] + rest[number + 1] < bar;
      if tops[class] >= bar then
        alone := alone || keys[class];
        continue;
      end if;
      if known_final is null or terms <= 12 then
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
      if final is distinct from known_final and leaders <> '{}' then
        arms := arms || svc_private.search_pair(leaders, keys[first[number + 1] : known_final]);
        leaders := '{}';
      end if;
      known_final := final;
      leaders := leaders || keys[class];
    end loop;
    if leaders <> '{}' then
      arms := arms || svc_private.search_pair(leaders, keys[first[number + 1] : known_final]);
    end if;
  end loop;
  if alone <> '{}' then
    arms := arms || format('d.keys && %L::bigint[]', alone);
  end if;
  return array_to_string(arms, ' or ');
end
$$;

comment on function svc_private.search_cover(integer[], double precision[], bigint[], bigint[], double precision) is
  'What every document that reaches a score fulfils, as SQL over the index of keys.';
