-- What svc_private.select_entries() needs to know of an audited table: its number, SQL that finds a row t by the key in $1,
-- SQL of that key, and the omitted columns. Names and types come from the declaration and the catalog, none from a caller.
--
-- The trigger of the table says which declaration is its own. The number of the table in svc_private.history_tables may be
-- that of another one, since pg_restore gives tables new numbers.
--
-- SECURITY DEFINER, because no role of a request may read the declarations. It reads no row.

create or replace function svc_private.history_target(relation regclass)
returns table (id integer, condition text, key text, omitted text[])
language sql
stable
security definer
set search_path = ''
as $$
  select t.id,
         string_agg(format('t.%I %s %s::%s', a.attname, svc_private.equality(a.atttypid),
           case cardinality(t.keys) when 1 then '$1' else format('($1::jsonb ->> %s)', k.place - 1) end,
           pg_catalog.format_type(a.atttypid, -1)), ' and ' order by k.place),
         format('svc_private.history_key(jsonb_build_object(%s), %L)',
           string_agg(format('%L::text, t.%I', a.attname, a.attname), ', ' order by k.place), t.keys),
         t.omitted
    from pg_catalog.pg_trigger g
    join svc_private.history_tables t on t.id = substring(pg_catalog.encode(g.tgargs, 'escape') from '^\d+')::integer
   cross join unnest(t.keys) with ordinality as k (name, place)
    join pg_catalog.pg_attribute a on a.attrelid = g.tgrelid and a.attname = k.name
   where g.tgrelid = history_target.relation and g.tgname = '_svc_history' and g.tgparentid = 0
     and g.tgfoid = 'svc_private.note_change()'::regprocedure
   group by t.id
$$;

comment on function svc_private.history_target(regclass) is
  'The declaration of an audited table, as SQL. Called by svc_private.select_entries(). '
  'Definer: no role of a request may read the declarations; it returns only the declaration.';

grant execute on function svc_private.history_target(regclass) to svc_reader_anonymous, svc_reader_authenticated;
