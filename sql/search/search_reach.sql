-- The bounds of a class's postings: the inverse of svc_private.search_class(). Called by svc_private.read_query().

create or replace function svc_private.search_reach(class integer)
returns table (fewest integer, most integer, shortest integer, longest integer)
language sql
immutable
as $$
  select f.bounds[class / 32 + 1], f.bounds[class / 32 + 2] - 1, l.bounds[class % 32 + 1], l.bounds[class % 32 + 2]
    from (select '{1,2,3,4,5,7,10,16,1000000000}'::integer[] as bounds) as f,
         (select '{0,2,3,4,6,8,11,16,23,32,45,64,91,128,181,256,362,512,724,1024,1448,2048,2896,4096,5793,8192,11585,16384,32768,65536,131072,262144,1000000000}'::integer[] as bounds) as l
$$;

comment on function svc_private.search_reach(integer) is
  'The lowest and the highest frequency of a class, its shortest length, and an exclusive upper bound of its length. '
  'lint:allow function_without_search_path: SET would prevent inlining; it calls only built-in functions.';
