-- The condition that a column of the key has a value. Called by the functions of Studio that find one row.

create or replace function svc_private.key_condition(name text, type text, given text)
returns text
language sql
stable
set search_path = ''
as $$
  select format('t.%I %s %s::%s', name, svc_private.equality(to_regtype(type)), given, type)
$$;

comment on function svc_private.key_condition(text, text, text) is
  'The condition that the column of the table t has a value, which is given as SQL.';

-- svc_private.change_row() runs as they.
grant execute on function svc_private.key_condition(text, text, text) to svc_reader_anonymous, svc_reader_authenticated;
