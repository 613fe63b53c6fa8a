-- Keeps the inverted index up to date with a searchable table. A trigger calls it after each statement on the table;
-- svc_private.install_search() makes the triggers, with the table's number as their argument.
--
-- SECURITY DEFINER, because the roles that write rows have no rights on the index. An update that changes neither text
-- nor scope changes nothing here.
--
-- While svc.defers_indexing is on, as in an import, the rows wait for svc_hidden.index_waiting_rows().

create or replace function svc_private.index_rows()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
set datestyle = 'ISO'  -- the index has keys and fields as text, in one form, whatever the session shows
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set timezone = 'UTC'
set extra_float_digits = 1
set gin_pending_list_limit = '256kB'
as $$
declare
  target constant integer := tg_argv[0];
  columns constant text := svc_private.search_columns(target);
  row_ids text[];
  source text;
  added refcursor;
begin
  if tg_op = 'TRUNCATE' then
    perform svc_private.clear_search(target);
    return null;
  end if;

  if current_setting('svc.defers_indexing', true) = 'on' then
    source := case tg_op
      when 'INSERT' then format('select %s from new_rows as t', columns)
      when 'DELETE' then format('select %s from old_rows as t', columns)
      else format('(select %1$s from old_rows as t except select %1$s from new_rows as t) union all
        (select %1$s from new_rows as t except select %1$s from old_rows as t)', columns)
    end;
    execute format('insert into svc_private.search_waiting (table_id, row_id) select %s, s.row_id from (%s) as s', target, source);
    return null;
  end if;

  if tg_op = 'DELETE' then
    execute format('select array_agg(row_id) from (select %s from old_rows as t) as s', columns) into row_ids;
  elsif tg_op = 'UPDATE' then
    execute format('select array_agg(row_id) from (select %1$s from old_rows as t except select %1$s from new_rows as t) as s',
      columns) into row_ids;
  end if;
  if row_ids is not null then
    perform svc_private.remove_documents(target, row_ids);
  end if;

  if tg_op = 'INSERT' then
    open added for execute format('select %s from new_rows as t', columns);
  elsif tg_op = 'UPDATE' and row_ids is not null then
    open added for execute format('select %1$s from new_rows as t except select %1$s from old_rows as t', columns);
  end if;
  if added is not null then
    perform svc_private.index_source(target, added);
    -- A search reads the whole list of pending entries: it is emptied at once.
    perform pg_catalog.gin_clean_pending_list('svc_private.search_documents_keys');
  end if;
  return null;
end
$$;

comment on function svc_private.index_rows() is
  'Trigger: applies inserts, updates and deletes to the inverted index. '
  'lint:allow executed_text: only names of columns that svc migrate recorded, no value of a row. '
  'Definer: the role that writes a row has no rights on the index.';
