-- The condition that a column of the key has a value. Called by the functions of Studio that find one row.

create or replace function svc_private.key_condition(name text, type text, given text)
returns text
language sql
stable
set search_path = ''
as $$
  -- As records, because the search path has no operator of an extension's type.
  select format(case when svc_private.is_of_extension(key_condition.type) then 'row(t.%I)::record = row(%s::%s)::record'
                     else 't.%I = %s::%s' end, key_condition.name, key_condition.given, key_condition.type)
$$;

comment on function svc_private.key_condition(text, text, text) is
  'The condition that the column of the table t has a value, which is given as SQL.';

-- svc_private.change_row() runs as they.
grant execute on function svc_private.key_condition(text, text, text) to svc_reader_anonymous, svc_reader_authenticated;
