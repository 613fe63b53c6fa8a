-- What the index knows a posting by: 40 bits of a hash of its group and term, 16 of fields, 8 of its class. Two that share
-- a key by chance cost a look at a document and nothing else: svc_private.find_matches() reads group and term before it believes
-- them. A document's keys are kept in order, so that a term's place is found by halving.
--
-- No SET clause, for the reason of svc_private.search_class().

create or replace function svc_private.search_key(group_id integer, term text, fields integer, class integer)
returns bigint
language sql
immutable
as $$
  select pg_catalog.hashtextextended(term, group_id) & (-1::bigint << 24) | (fields << 8) | class
$$;

comment on function svc_private.search_key(integer, text, integer, integer) is
  'The key of a posting in the index over documents. '
  'lint:allow function_without_search_path: inlined, which a setting prevents; calls built-in functions alone.';
