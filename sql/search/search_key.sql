-- The key of a posting in the index: bits of a hash of its group and term, a bit for each field of the table, and 8 bits
-- of the posting's class. With few fields the hash has 55 bits. With a million terms in a group, the chance that two of
-- them have one key is 1 in 70,000. A document's keys are sorted, so that a term is found by binary search.
--
-- No SET clause, for the reason in svc_private.search_class().

create or replace function svc_private.search_key(group_id integer, term text, fields integer, class integer, width integer)
returns bigint
language sql
immutable
as $$
  select pg_catalog.hashtextextended(term, group_id) & (-1::bigint << (8 + width)) | (fields::bigint << 8) | class
$$;

comment on function svc_private.search_key(integer, text, integer, integer, integer) is
  'The key of a posting in the index over documents of a table with `width` fields. '
  'lint:allow function_without_search_path: SET would prevent inlining; it calls only built-in functions.';
