-- Says which tables realtime follows. Called by the application's generated sql/realtime.sql, as svc_owner; calling it
-- again changes only what differs.
--
-- The publication "svc" is what the reader of the write-ahead log (src/realtime/replication.ts) subscribes to. Tables
-- that are not wanted any more leave it.
--
-- A row that is updated or deleted is logged with its replica identity, as it was before. The primary key alone would
-- not tell whose row it was, so an owner's table gets an index over key and owner for it: an update beside a value of
-- 100 kB then logs some hundred bytes, and as much as the value itself with REPLICA IDENTITY FULL, which is taken where
-- a column of the index may be null, and where lists have scopes ("full"), which any column may decide.

create or replace function svc_private.publish_tables(wanted jsonb)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  each record;
  index_name text;
  tables text[] := '{}';
begin
  for each in
    select (w ->> 'table')::regclass as id,
           w -> 'identity' = '"full"' as is_full,
           array(select jsonb_array_elements_text(case jsonb_typeof(w -> 'identity') when 'array' then w -> 'identity' end))
             as identity
      from jsonb_array_elements(wanted) w
  loop
    tables := tables || each.id::text;
    if cardinality(each.identity) = 0 and not each.is_full then
      if (select relreplident from pg_catalog.pg_class where oid = each.id) <> 'd' then
        execute format('alter table %s replica identity default', each.id);
      end if;
    elsif each.is_full or exists (
      select from pg_catalog.pg_attribute a
       where a.attrelid = each.id and a.attname = any (each.identity) and not a.attnotnull
    ) then
      if (select relreplident from pg_catalog.pg_class where oid = each.id) <> 'f' then
        execute format('alter table %s replica identity full', each.id);
      end if;
    else
      index_name := left((select relname from pg_catalog.pg_class where oid = each.id), 50) || '_identity';
      if not exists (
        select from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
         where i.indrelid = each.id and i.indisreplident and c.relname = index_name
      ) then
        execute format('create unique index if not exists %I on %s (%s)', index_name, each.id,
          (select string_agg(quote_ident(c), ', ') from unnest(each.identity) c));
        execute format('alter table %s replica identity using index %I', each.id, index_name);
      end if;
    end if;
  end loop;

  -- SET replaces the list. It cannot be empty: a publication of nothing is made anew.
  if not exists (select from pg_catalog.pg_publication where pubname = 'svc') then
    create publication svc;
  end if;
  if cardinality(tables) > 0 then
    execute format('alter publication svc set table %s', array_to_string(tables, ', '));
  else
    drop publication svc;
    create publication svc;
  end if;
end
$$;

comment on function svc_private.publish_tables(jsonb) is
  'Makes [{table, identity: [columns] or "full"}] the tables that realtime follows; none means the primary key.';
