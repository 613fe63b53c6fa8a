-- Sets which tables realtime follows. Called by the application's generated sql/realtime.sql, as svc_owner; calling it
-- again changes only what differs.
--
-- The reader of the write-ahead log (src/realtime/replication.ts) subscribes to the publication "svc". Tables that are
-- no longer declared are removed from it.
--
-- An updated or deleted row is logged with its old replica identity. The primary key alone would not say who owned the
-- row, so an owner's table gets an index over key and owner as its replica identity, unless a key of the table has just
-- these columns. An update beside a value of 100 kB then logs some hundred bytes; with REPLICA IDENTITY FULL it would also
-- log the value. FULL is used where a column of the index may be null, and where lists have scopes ("full"), which any
-- column may decide.
--
-- Nothing is locked where nothing differs: an identity is compared by its columns, and the publication by its tables. A
-- partitioned table is published under its own name. Its partitions, which hold the rows, get its identity. They use
-- all columns instead of an index, because a unique index would have to contain the partition key.
--
-- Of a table that others inherit from, ONLY it is added: each of the others is followed if it is declared itself.
--
-- From 18 on PostgreSQL refuses updates and deletes of a published table if its identity has a generated column that the
-- publication leaves out. So stored ones are published where an identity has one. Virtual ones cannot be published.

create or replace function svc_private.publish_tables(wanted jsonb)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  each record;
  part record;
  chosen record;
  index_name text;
  tables regclass[] := '{}';
  generated text := 'none';
begin
  -- Made by hand. PostgreSQL's own error would name the statement that fails, and not what to do.
  if exists (select from pg_catalog.pg_publication p where p.pubname = 'svc' and p.puballtables) and wanted <> '[]' then
    raise exception 'the publication svc is for all tables: svc cannot choose those that realtime follows'
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Drop it, and svc makes its own: drop publication svc. If another subscriber uses it, rename it: '
                   'alter publication svc rename to ….';
  end if;

  for each in
    select c.oid::regclass as id, c.relname, c.relnamespace::regnamespace as namespace, c.relkind = 'p' as is_partitioned,
           w -> 'identity' = '"full"' as is_full,
           array(select jsonb_array_elements_text(case jsonb_typeof(w -> 'identity') when 'array' then w -> 'identity' end))
             as identity
      from jsonb_array_elements(wanted) w
      join pg_catalog.pg_class c on c.oid = (w ->> 'table')::regclass
     -- A foreign or unlogged table has no changes in the log, and cannot be published.
     where c.relkind in ('r', 'p') and c.relpersistence = 'p'
  loop
    tables := tables || each.id;
    if cardinality(each.identity) > 0 and not each.is_partitioned and not each.is_full and not exists (
      select from pg_catalog.pg_attribute a
       where a.attrelid = each.id and a.attname = any (each.identity) and not a.attnotnull
    ) then
      index_name := svc_private.begin_of(left(each.relname, 50), 54) || '_identity';
      if exists (
        select from pg_catalog.pg_class c left join pg_catalog.pg_index i on i.indexrelid = c.oid
         where c.relnamespace = each.namespace and c.relname = index_name and i.indrelid is distinct from each.id
      ) then -- of another table, whose long name begins like this one's
        index_name := svc_private.begin_of(left(each.relname, 41), 45) || '_' || left(md5(each.relname), 8) || '_identity';
      end if;
      -- A key of the table over these columns, such as one of owner and team: an index beside it slows down writes. Else
      -- the index in force, else a new one.
      select c.relname, i.indisreplident as is_in_force, k.oid is null as is_ours into chosen
        from pg_catalog.pg_index i
        join pg_catalog.pg_class c on c.oid = i.indexrelid
        left join pg_catalog.pg_constraint k on k.conindid = c.oid and k.contype <> 'f'
       where i.indrelid = each.id and (k.oid is not null or i.indisreplident)
         and svc_private.index_columns(c.oid) @> each.identity and svc_private.index_columns(c.oid) <@ each.identity
       order by k.oid is null, i.indisreplident desc, c.relname
       limit 1;
      if chosen.is_in_force then
        -- The table was renamed.
        if chosen.is_ours and chosen.relname ~ '_identity$' and chosen.relname <> index_name
          and to_regclass(format('%s.%I', each.namespace, index_name)) is null then
          execute format('alter index %s.%I rename to %I', each.namespace, chosen.relname, index_name);
        end if;
        continue;
      end if;
      if chosen.relname is not null then
        select i.indexrelid::regclass as id into part from pg_catalog.pg_index i
         where i.indrelid = each.id and i.indisreplident and i.indexrelid::regclass::text ~ '_identity"?$'
           and not exists (select from pg_catalog.pg_constraint k where k.conindid = i.indexrelid and k.contype <> 'f');
        execute format('alter table %s replica identity using index %I', each.id, chosen.relname);
        if part.id is not null then perform svc_private.drop_identity(part.id); end if; -- ours of before
        continue;
      end if;
      if to_regclass(format('%s.%I', each.namespace, index_name)) is not null then -- over the columns of before
        perform svc_private.drop_identity(format('%s.%I', each.namespace, index_name)::regclass);
      end if;
      execute format('create unique index %I on %s (%s)', index_name, each.id,
        (select string_agg(quote_ident(c), ', ') from unnest(each.identity) c));
      execute format('alter table %s replica identity using index %I', each.id, index_name);
    else
      for part in
        select c.oid::regclass as id,
               (select i.indexrelid::regclass from pg_catalog.pg_index i
                 where i.indrelid = c.oid and i.indisreplident and i.indexrelid::regclass::text ~ '_identity"?$'
                   and not exists (select from pg_catalog.pg_constraint k
                                    where k.conindid = i.indexrelid and k.contype <> 'f')) as before
          from pg_catalog.pg_class c
         where c.oid in (select t.relid from pg_catalog.pg_partition_tree(each.id) t union all select each.id)
           and c.relreplident <> case when each.is_full or cardinality(each.identity) > 0 then 'f' else 'd' end
      loop
        execute format('alter table %s replica identity %s', part.id,
          case when each.is_full or cardinality(each.identity) > 0 then 'full' else 'default' end);
        if part.before is not null then perform svc_private.drop_identity(part.before); end if; -- ours, of an owner's table
      end loop;
    end if;
  end loop;

  if not exists (select from pg_catalog.pg_publication where pubname = 'svc') then
    create publication svc with (publish_via_partition_root = true);
  elsif not (select pubviaroot from pg_catalog.pg_publication where pubname = 'svc') then
    alter publication svc set (publish_via_partition_root = true);
  end if;
  for part in select g.* from svc_private.generated_identities g where g.id = any (tables) order by g.is_virtual desc loop
    if part.is_virtual then
      raise exception 'realtime cannot follow %: PostgreSQL does not publish its virtual column %', part.id, part.column_name
        using errcode = 'feature_not_supported',
              hint = 'Make the column STORED. Or declare the owner''s column NOT NULL, if the table has no scopes.';
    end if;
    generated := 'stored';
  end loop;
  if (select to_jsonb(p) ->> 'pubgencols' <> left(generated, 1) from pg_catalog.pg_publication p where p.pubname = 'svc') then
    execute format('alter publication svc set (publish_generated_columns = %s)', generated);
  end if;
  -- By hand somebody may have left out kinds of changes, or given a table a filter or a list of columns.
  if exists (select from pg_catalog.pg_publication p
              where p.pubname = 'svc' and not (p.pubinsert and p.pubupdate and p.pubdelete and p.pubtruncate)) then
    alter publication svc set (publish = 'insert, update, delete, truncate');
  end if;
  for part in
    select r.prrelid::regclass as id from pg_catalog.pg_publication_rel r
      join pg_catalog.pg_publication p on p.oid = r.prpubid
     where p.pubname = 'svc' and (r.prrelid <> all (tables) or r.prqual is not null or r.prattrs is not null)
  loop
    execute format('alter publication svc drop table only %s', part.id);
  end loop;
  for part in
    select distinct t.id from unnest(tables) as t (id)
     where not exists (select from pg_catalog.pg_publication_rel r
                         join pg_catalog.pg_publication p on p.oid = r.prpubid
                        where p.pubname = 'svc' and r.prrelid = t.id)
  loop
    execute format('alter publication svc add table only %s', part.id);
  end loop;
end
$$;

comment on function svc_private.publish_tables(jsonb) is
  'Sets the tables that realtime follows to [{table, identity: [columns] or "full"}]; without identity, the primary '
  'key is used.';
