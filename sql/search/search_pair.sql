-- Documents with a posting of one list and a posting of another, as SQL. Part of svc_private.search_cover().

create or replace function svc_private.search_pair(one bigint[], other bigint[])
returns text
language sql
immutable
as $$
  select format('d.keys && %L::bigint[] and d.keys && %L::bigint[]', one, other)
$$;

comment on function svc_private.search_pair(bigint[], bigint[]) is 'Documents that are in both of two lists, as SQL. lint:allow function_without_search_path: inlined, which a setting prevents; calls built-in functions alone.';
