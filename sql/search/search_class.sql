-- The class of a posting: one small number for how often a term occurs in a document and for the document's length.
-- Documents of a class get nearly the same addend from the term. All fields are taken together.
-- svc_private.search_reach() gives the bounds of a class; migration 0018 has the same bounds.
--
-- No SET clause, so that PostgreSQL inlines it into the statement: it is called for each posting.

create or replace function svc_private.search_class(frequency integer, length integer)
returns smallint
language sql
immutable
as $$
  select (32 * (pg_catalog.width_bucket(frequency, '{1,2,3,4,5,7,10,16}'::integer[]) - 1)
    + pg_catalog.width_bucket(length,
        '{0,2,3,4,6,8,11,16,23,32,45,64,91,128,181,256,362,512,724,1024,1448,2048,2896,4096,5793,8192,11585,16384,32768,65536,131072,262144}'::integer[])
    - 1)::smallint
$$;

comment on function svc_private.search_class(integer, integer) is
  'The class of a posting: 0 to 255. '
  'lint:allow function_without_search_path: SET would prevent inlining; it calls only built-in functions.';
