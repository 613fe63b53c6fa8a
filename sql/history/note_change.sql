-- Writes the entry of a changed row. svc_private.install_history() makes the triggers, with the number of the table, the
-- columns of its key and the omitted columns as arguments. It fires for generated operations, handlers, jobs, COPY and psql.
--
-- For each row, and not for each statement with transition tables: these do not say which old row belongs to which new
-- one. A call of another function that is not inlined would cost as much as the comparison of the columns.
-- Its settings are those on which the JSON of a value depends, so that an entry does not depend on the session. They cost
-- 1 to 3 % of an entry. lc_monetary is not among them: that of C would show the yen of a Japanese database as dollars.
--
-- SECURITY DEFINER, because no login may write entries. It gives nothing back.

create or replace function svc_private.note_change()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
set timezone = 'UTC'
set datestyle = 'ISO'
set intervalstyle = 'postgres'
set bytea_output = 'hex'
set extra_float_digits = 1  -- fewer would hide small changes
set quote_all_identifiers = off
as $$
declare
  target  constant integer := tg_argv[0];
  keys    constant text[]  := tg_argv[1];
  omitted constant text[]  := tg_argv[2];
  before  jsonb := '{}';
  after   jsonb := '{}';
  was     text;
  row_id  text;
  changed jsonb := '{}';
begin
  if tg_op <> 'TRUNCATE' then
    -- Compares bytes: columns of type json have no operator =.
    if tg_op = 'UPDATE' and old operator(pg_catalog.*=) new then
      return null;
    end if;
    if tg_op <> 'INSERT' then
      before := to_jsonb(old);
      was := case when keys[2] is null then before ->> keys[1] else svc_private.history_key(before, keys) end;
    end if;
    if tg_op <> 'DELETE' then
      after := to_jsonb(new);
    end if;
    row_id := case when tg_op = 'DELETE' then was
                   when keys[2] is null then after ->> keys[1] else svc_private.history_key(after, keys) end;

    -- 16 KiB for each value: a large one is in the row, and a copy for each change would double the storage.
    select coalesce(jsonb_object_agg(k.key, case
             when k.key <> all (omitted) and coalesce(pg_column_size(before -> k.key), 0) <= 16384
               and coalesce(pg_column_size(after -> k.key), 0) <= 16384
             then jsonb_build_array(before -> k.key, after -> k.key) end), '{}')
      into changed
      from jsonb_object_keys(before || after) as k (key)
     where coalesce(before -> k.key, 'null') is distinct from coalesce(after -> k.key, 'null');
    if tg_op = 'UPDATE' and changed = '{}' then
      return null;
    end if;
  end if;

  insert into svc_private.history_entries (table_id, row_id, begins, operation, actor, impersonated_by, via, request, trace, changed)
  values (target, row_id, tg_op = 'INSERT' or tg_op = 'UPDATE' and was is distinct from row_id,
          lower(tg_op collate "C"), svc.current_user_id(),
          case split_part(current_setting('svc.user_id', true), E'\t', 2)
            when 'visit' then split_part(current_setting('svc.user_id', true), E'\t', 3) end,
          nullif(current_setting('application_name'), ''),
          nullif(current_setting('svc.request_id', true), ''), svc_private.current_trace(), changed);
  return null;
end
$$;

comment on function svc_private.note_change() is
  'Trigger: writes what changed in a row of an audited table. '
  'Definer: no login may write svc_private.history_entries.';
