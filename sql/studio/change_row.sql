-- Makes one change of an operator, with the rights of the function that calls it, so that grants, policies, triggers and
-- constraints decide as for a request: svc_private.change_row_as_anonymous() and
-- svc_private.change_row_as_authenticated().
--
-- The change names a table, a command, the key in the order of the primary key, what is set, and what the row held
-- when the operator read it: a row that has changed since is not written. Values are texts; null is null. Names come
-- from the catalog and values are parameters, so no text of the page becomes SQL.

create or replace function svc_private.change_row(change jsonb)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  target constant regclass := (change ->> 'table')::regclass;
  command constant text := change ->> 'command';
  assigned text;
  named text;
  given text;
  same text;
  unknown text;
  statement text;
  affected bigint;
begin
  select string_agg(quote_literal(k), ', ') into unknown
    from (select jsonb_object_keys(coalesce(change -> 'set', '{}') || coalesce(change -> 'was', '{}')) as k) as names
   where not exists (select from pg_catalog.pg_attribute a
                      where a.attrelid = target and a.attname = k and a.attnum > 0 and not a.attisdropped);
  if unknown is not null then
    raise exception '% has no column %', target, unknown using errcode = 'undefined_column';
  end if;

  -- Without the type's length: a value that is too long is refused, not cut. -1, because null makes char(3) "character", which is
  -- one letter.
  select string_agg(format('%I = ($1 -> ''set'' ->> %L)::%s', a.attname, a.attname, t.name), ', ' order by a.attnum),
         string_agg(format('%I', a.attname), ', ' order by a.attnum),
         string_agg(format('($1 -> ''set'' ->> %L)::%s', a.attname, t.name), ', ' order by a.attnum)
    into assigned, named, given
    from pg_catalog.pg_attribute a
    cross join lateral (select pg_catalog.format_type(a.atttypid, -1) as name) as t
   where a.attrelid = target and change -> 'set' ? a.attname::text;

  select string_agg(condition, ' and ') into same
    from (
      select svc_private.key_condition(a.attname, pg_catalog.format_type(a.atttypid, -1),
               format('($1 -> ''key'' ->> %s)', k.place - 1))
        from pg_catalog.pg_index i
        cross join lateral unnest(i.indkey::smallint[]) with ordinality as k (attnum, place)
        join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum
       where i.indrelid = target and i.indisprimary
      union all
      select format('t.%I::text is not distinct from ($1 -> ''was'' ->> %L)', a.attname, a.attname)
        from pg_catalog.pg_attribute a
       where a.attrelid = target and change -> 'was' ? a.attname::text
    ) as conditions (condition);
  if command <> 'insert' and not exists (
    select from pg_catalog.pg_index i
     where i.indrelid = target and i.indisprimary and i.indnkeyatts = jsonb_array_length(change -> 'key')
  ) then
    raise exception '% has no primary key of these columns', target using errcode = 'invalid_parameter_value';
  end if;

  statement := case
    when command = 'insert' and named is null then format('insert into %s default values', target)
    when command = 'insert' then format('insert into %s (%s) values (%s)', target, named, given)
    when command = 'update' then format('update %s t set %s where %s', target, assigned, same)
    when command = 'delete' then format('delete from %s t where %s', target, same)
  end;
  execute statement using change;
  get diagnostics affected = row_count;
  if affected <> 1 then
    raise exception '% changed % rows of %', command, affected, target using
      errcode = 'no_data_found',
      hint = 'The row has changed since it was read, or the policies do not let this user change it.';
  end if;
end
$$;

comment on function svc_private.change_row(jsonb) is
  'Makes one change of an operator with the rights of its caller.';

grant execute on function svc_private.change_row(jsonb) to svc_reader_anonymous, svc_reader_authenticated;
