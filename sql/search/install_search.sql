-- Makes tables searchable. The application's generated sql/search.sql calls it as svc_owner, with all of its
-- declarations. Calling it again changes only what differs. A table whose fields, language or scope changed is indexed
-- again in the same transaction. A table that is no longer declared loses its triggers and its index. An unchanged
-- table is not locked, so an unrelated migration does not block writers.
--
-- Vector columns get an HNSW index by cosine distance where pgvector can make one (up to 2,000 dimensions).

create or replace function svc_private.install_search(wanted jsonb, declarer text default 'application')
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  each record;
  known svc_private.search_tables;
  embedding text;
  nearest text;
  virtual text;
begin
  -- Triggers know their search by its number, also on a table that was renamed, or that has given its name to another one.
  for each in
    select g.tgname, g.tgrelid::regclass as relation
      from svc_private.search_tables t
      join pg_catalog.pg_trigger g on g.tgargs = convert_to(t.id::text, 'UTF8') || '\x00'::bytea
     where t.declared_by = declarer and g.tgfoid = 'svc_private.index_rows'::regproc and not exists (
       select from jsonb_array_elements(wanted) as w where w ->> 'table' = t.name and to_regclass(t.name) = g.tgrelid)
  loop
    execute format('drop trigger %I on %s', each.tgname, each.relation);
  end loop;

  for each in
    select t.id from svc_private.search_tables t
     where t.declared_by = declarer and t.name not in (select w ->> 'table' from jsonb_array_elements(wanted) as w)
  loop
    perform svc_private.clear_search(each.id);
    delete from svc_private.search_tables t where t.id = each.id;
  end loop;

  for each in
    -- With the expressions of generated columns: another one changes rows without a trigger.
    select w || jsonb_build_object('made', coalesce(
             (select jsonb_object_agg(a.attname, pg_catalog.pg_get_expr(d.adbin, d.adrelid))
                from pg_catalog.pg_attribute a
                join pg_catalog.pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
               where a.attrelid = (w ->> 'table')::regclass and a.attgenerated <> '' and (w -> 'fields' ? a.attname
                 or a.attname in (w ->> 'id', w ->> 'corpus', w ->> 'visibility', w ->> 'owner'))), '{}')) as definition,
           w ->> 'table' as name, (w ->> 'table')::regclass as relation
      from jsonb_array_elements(wanted) as w
  loop
    select * into known from svc_private.search_tables t where t.name = each.name;
    -- The constants of BM25 are no part of the index. Earlier versions did not note the expressions.
    if jsonb_build_object('made', each.definition -> 'made') || known.definition - 'bm25' = each.definition - 'bm25'
      and known.definition <> each.definition then
      update svc_private.search_tables t set definition = each.definition where t.id = known.id returning * into known;
    end if;
    -- After pg_restore a table has another number, and still the triggers. A table that was made anew has no triggers.
    if known.relation <> each.relation and svc_private.is_searchable(each.relation, known.id) then
      update svc_private.search_tables t set relation = each.relation where t.id = known.id returning * into known;
    end if;
    continue when known.relation = each.relation and known.definition = each.definition
      and svc_private.is_searchable(each.relation, known.id);

    select a.attname into virtual from pg_catalog.pg_attribute a
     where a.attrelid = each.relation and a.attgenerated = 'v' and (
       each.definition -> 'fields' ? a.attname or a.attname in (
         each.definition ->> 'id', each.definition ->> 'corpus', each.definition ->> 'visibility', each.definition ->> 'owner'));
    if found then -- Triggers read it from transition tables, in which PostgreSQL 18 does not compute it.
      raise exception 'a search cannot read the virtual generated column % of %', virtual, each.name
        using errcode = 'feature_not_supported', hint = 'Make the column STORED.';
    end if;

    -- No write may happen between the reading of the rows and the creation of the triggers.
    execute format('lock table %s in share row exclusive mode', each.name);

    if known.id is null or known.relation <> each.relation or known.definition <> each.definition then
      insert into svc_private.search_tables as t (name, relation, declared_by, definition, splitting)
      values (each.name, each.relation, declarer, each.definition, svc_private.search_splitting())
      on conflict (name) do update
        set relation = excluded.relation, declared_by = excluded.declared_by, definition = excluded.definition,
            splitting = excluded.splitting
      returning * into known;
      perform svc_private.clear_search(known.id);
      perform svc_private.fill_search(known);
    end if;

    execute format('create or replace trigger svc_search_insert after insert on %s referencing new table as new_rows
      for each statement execute function svc_private.index_rows(%s)', each.name, known.id);
    execute format('create or replace trigger svc_search_update after update on %s referencing old table as old_rows
      new table as new_rows for each statement execute function svc_private.index_rows(%s)', each.name, known.id);
    execute format('create or replace trigger svc_search_delete after delete on %s referencing old table as old_rows
      for each statement execute function svc_private.index_rows(%s)', each.name, known.id);
    execute format('create or replace trigger svc_search_truncate after truncate on %s
      for each statement execute function svc_private.index_rows(%s)', each.name, known.id);

    for embedding in
      select a.attname from pg_catalog.pg_attribute a
       where a.attrelid = each.relation and not a.attisdropped and a.atttypmod between 1 and 2000
         and a.atttypid = to_regtype('extensions.vector')
    loop
      nearest := format('create index if not exists %I on %s using hnsw (%I extensions.vector_cosine_ops)',
        svc_private.nearest_index(each.relation, embedding), each.name, embedding);
      begin
        execute nearest;
      exception when undefined_file then
        -- pgvector in Debian's extension_destdir: parallel workers, which large tables get, do not search there.
        set local max_parallel_maintenance_workers = 0;
        execute nearest;
      end;
    end loop;
  end loop;
end
$$;

comment on function svc_private.install_search(jsonb, text) is
  'Sets the searchable tables of the application or the platform to [{table, id, fields, language, corpus, '
  'visibility, owner, always}].';
