-- The key of a posting in the index: 40 bits of a hash of its group and term, 16 bits of fields, 8 bits of its class.
-- If two postings share a key by chance, the only cost is one document read: svc_private.find_matches() compares group
-- and term. A document's keys are sorted, so that a term's position is found by binary search.
--
-- No SET clause, for the reason in svc_private.search_class().

create or replace function svc_private.search_key(group_id integer, term text, fields integer, class integer)
returns bigint
language sql
immutable
as $$
  select pg_catalog.hashtextextended(term, group_id) & (-1::bigint << 24) | (fields << 8) | class
$$;

comment on function svc_private.search_key(integer, text, integer, integer) is
  'The key of a posting in the index over documents. '
  'lint:allow function_without_search_path: SET would prevent inlining; it calls only built-in functions.';
