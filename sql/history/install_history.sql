-- Puts the triggers of the history on audited tables. The application's generated sql/history.sql calls it as svc_owner, with
-- all of its declarations. A table that is no longer declared loses its triggers; its entries stay, for operators alone.
-- A table that has its triggers already is not locked.
--
-- Triggers say which line of svc_private.history_tables is theirs: a renamed table keeps its entries, also after pg_restore
-- gave it another number. A table without triggers gets a new line. So nobody reads entries of an earlier table of that
-- name, or of rows that were removed, and their keys used again, while nothing was noted.
--
-- Triggers of one event fire by name. These begin with _, before letters: a trigger of the application that changes the
-- new row once more would otherwise have its entry before that of the row.

create or replace function svc_private.install_history(wanted jsonb, declarer text default 'application')
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  each record;
  known svc_private.history_tables;
  audited constant regclass[] := array(select to_regclass(w ->> 'table') from jsonb_array_elements(wanted) as w);
  child regclass;
begin
  perform svc_private.make_history_months();

  for each in
    select g.relation, g.tgname, g.id
      from svc_private.history_triggers() g
      join svc_private.history_tables t on t.id = g.id
     where t.declared_by = declarer and g.relation not in (
       select coalesce(to_regclass(w ->> 'table')::oid, 0) from jsonb_array_elements(wanted) as w)
  loop
    execute format('drop trigger %I on %s', each.tgname, each.relation::regclass);
  end loop;
  update svc_private.history_tables t set relation = null
   where t.declared_by = declarer and t.relation is not null
     and t.id not in (select g.id from svc_private.history_triggers() g);

  for each in
    select w ->> 'table' as name, (w ->> 'table')::regclass::oid as relation,
           array(select jsonb_array_elements_text(w -> 'keys')) as keys,
           array(select jsonb_array_elements_text(w -> 'omit')) as omitted
      from jsonb_array_elements(wanted) as w
  loop
    child := svc_private.inheriting_table(each.relation, audited);
    if child is not null then
      raise exception '% inherits from %, which is audited: changes of its rows would not be kept', child, each.name
        using errcode = 'feature_not_supported', hint = 'Declare audited() for it, too, or make it a partition.';
    end if;
    select t.* into known
      from svc_private.history_triggers() g join svc_private.history_tables t on t.id = g.id
     where g.relation = each.relation and g.tgname = '_svc_history' and t.declared_by = declarer;
    if found then
      update svc_private.history_tables t set relation = null where t.relation = each.relation and t.id <> known.id;
      update svc_private.history_tables t
         set name = each.name, relation = each.relation, keys = each.keys, omitted = each.omitted
       where t.id = known.id and (t.name, t.relation, t.keys, t.omitted)
         is distinct from (each.name, each.relation, each.keys, each.omitted);
    else
      update svc_private.history_tables t set relation = null where t.relation = each.relation;
      insert into svc_private.history_tables (name, relation, declared_by, keys, omitted)
      values (each.name, each.relation, declarer, each.keys, each.omitted)
      returning * into known;
    end if;

    continue when (
      select count(*) from svc_private.history_triggers() g
       where g.relation = each.relation and g.enabled and g.args = ( -- The arguments end with a zero byte each.
         select string_agg(convert_to(a.arg, 'UTF8') || '\x00', '' order by a.place)
           from unnest(array[known.id::text, each.keys::text, each.omitted::text]) with ordinality as a (arg, place))) = 2;
    execute format('create or replace trigger _svc_history after insert or update or delete on %s
      for each row execute function svc_private.note_change(%L, %L, %L)', each.name, known.id, each.keys, each.omitted);
    execute format('create or replace trigger _svc_history_truncate after truncate on %s
      for each statement execute function svc_private.note_change(%L, %L, %L)', each.name, known.id, each.keys, each.omitted);
  end loop;
end
$$;

comment on function svc_private.install_history(jsonb, text) is
  'Sets the audited tables of the application to [{table, keys, omit}]: columns by name.';
