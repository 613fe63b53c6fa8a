-- The beginning of a name that has at most so many bytes: PostgreSQL counts the 63 of a name in bytes, and a letter may have four.
-- It would cut the end off, by which svc tells its own objects. Part of svc_private.publish_tables().

create or replace function svc_private.begin_of(name text, bytes integer)
returns text
language sql
immutable
set search_path = ''
as $$
  select left(name, n) from generate_series(bytes, 0, -1) as n where octet_length(left(name, n)) <= bytes limit 1
$$;

comment on function svc_private.begin_of(text, integer) is 'The beginning of a name that has at most so many bytes.';
