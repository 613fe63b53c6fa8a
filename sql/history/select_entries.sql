-- The history of a row that the caller sees: the body of svc.row_history(). It runs with the rights of its caller, a reader
-- or the system (sql/README.md, "Readers"). So the policies of the audited table decide about the row as it is now, and
-- its grants about columns: what the caller may not select is left out of `changed`, and so is a column that is gone.

create or replace function svc_private.select_entries(relation regclass, key text, before bigint, most integer)
returns table (id bigint, at timestamptz, actor text, operation text, changed jsonb)
language plpgsql
stable
set search_path = ''
set timezone = 'UTC'  -- as in svc_private.note_change(): a key is found by its text
set datestyle = 'ISO'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set extra_float_digits = 1
set quote_all_identifiers = off
as $$
declare
  target record;
  found_key text;
begin
  select * into target from svc_private.history_target(relation);
  if target.id is null then
    raise exception '% is not audited in this database', relation
      using errcode = '55000', hint = 'Declare it with audited(), then run svc codegen and svc migrate.';
  end if;
  execute format('select %s from %s as t where %s', target.key, relation, target.condition) into found_key using key;
  if found_key is null then
    return;
  end if;
  return query
    select e.id, e.at, e.actor, e.operation, (
             select coalesce(jsonb_object_agg(c.key, case when c.key <> all (target.omitted) then c.value end), '{}')
               from jsonb_each(e.changed) as c
               join pg_catalog.pg_attribute a
                 on a.attrelid = relation and a.attname = c.key and a.attnum > 0 and not a.attisdropped
              where has_column_privilege(relation, a.attnum, 'select'))
      from svc_private.find_entries(target.id, found_key, before, most) as e
     order by e.id desc;
end
$$;

comment on function svc_private.select_entries(regclass, text, bigint, integer) is
  'The history of a row that the caller sees. The body of svc.row_history(). '
  'lint:allow executed_text: only names of the catalog; the key is a parameter.';

grant execute on function svc_private.select_entries(regclass, text, bigint, integer)
  to svc_reader_anonymous, svc_reader_authenticated;
grant execute on function svc_private.history_key(jsonb, text[]) to svc_reader_anonymous, svc_reader_authenticated;
