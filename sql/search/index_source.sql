-- Puts the rows of a cursor into the inverted index, some megabytes at a time. Called by svc_private.index_rows(),
-- svc_private.index_rows_together() and svc_private.fill_search().
--
-- A cursor, because only the trigger function itself sees the rows of its statement; functions that it calls do not.

create or replace function svc_private.index_source(
  target integer,
  source refcursor,  -- of svc_private.search_columns(); it is closed
  filling boolean default false  -- the counters go into svc_private.search_filling, and nothing is merged
)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  most_rows constant integer := 2000;
  most_bytes constant bigint := 4 * 1024 * 1024;
  each svc_private.search_row;
  rows svc_private.search_row[];
  bytes bigint;
  added record;
begin
  loop
    rows := '{}';
    bytes := 0;
    loop
      fetch source into each;
      exit when not found;
      rows := rows || each;
      bytes := bytes + pg_column_size(each.texts);
      exit when cardinality(rows) = most_rows or bytes > most_bytes;
    end loop;
    exit when rows = '{}';

    added := svc_private.index_texts(target, rows);
    if filling then
      insert into svc_private.search_filling (group_id, documents, key, term)
      select * from unnest(added.group_ids, added.documents, added.keys, added.terms);
    else
      insert into svc_private.search_counters (group_id, documents, key, term)
      select * from unnest(added.group_ids, added.documents, added.keys, added.terms);
      perform svc_private.fold_counters(target, array_agg(u.group_id), array_agg(u.key))
         from unnest(added.group_ids, added.keys) as u (group_id, key) where random() < 0.03;
    end if;
  end loop;
  close source;
end
$$;

comment on function svc_private.index_source(integer, refcursor, boolean) is
  'Puts the rows of a cursor over a searchable table into its inverted index.';
