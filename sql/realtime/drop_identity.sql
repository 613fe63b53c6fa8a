-- Drops an index that svc_private.publish_tables() has made, which calls this. A foreign key that was added while the
-- index was there may rest on it, although the table has a key of its own over the same columns: PostgreSQL takes the
-- older index. Such a foreign key is made again, on that key. Else the index would stay, in this database and not in one
-- that is made from the files: svc db drift would report it.

create or replace function svc_private.drop_identity(old regclass)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  anew text[] := '{}';
  each record;
begin
  if exists (select from pg_catalog.pg_constraint k where k.conindid = old and k.contype = 'f') and not exists (
    select from pg_catalog.pg_index mine
      join pg_catalog.pg_index i on i.indrelid = mine.indrelid and i.indexrelid <> old
     where mine.indexrelid = old and i.indisunique and i.indimmediate and i.indpred is null
       and svc_private.index_columns(i.indexrelid) @> svc_private.index_columns(old)
       and svc_private.index_columns(i.indexrelid) <@ svc_private.index_columns(old)
  ) then
    return;
  end if;
  for each in
    select k.conrelid::regclass as referrer, k.conname, pg_catalog.pg_get_constraintdef(k.oid) as definition,
           pg_catalog.obj_description(k.oid, 'pg_constraint') as remark
      from pg_catalog.pg_constraint k
     where k.conindid = old and k.contype = 'f' and k.conparentid = 0
  loop
    anew := anew || format('alter table %s add constraint %I %s', each.referrer, each.conname, each.definition);
    if each.remark is not null then
      anew := anew || format('comment on constraint %I on %s is %L', each.conname, each.referrer, each.remark);
    end if;
    execute format('alter table %s drop constraint %I', each.referrer, each.conname);
  end loop;
  execute format('drop index %s', old);
  for each in select s.statement from unnest(anew) with ordinality as s (statement, place) order by s.place loop
    execute each.statement;
  end loop;
end
$$;

comment on function svc_private.drop_identity(regclass) is
  'Drops an index of publish_tables; foreign keys that rest on it are made again, on another key of the same columns.';
