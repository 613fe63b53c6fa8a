-- Whether a table has the triggers, and its vector columns the indexes, that svc_private.install_search() makes. Called
-- by that function before it locks the table, and by svc_private.renew_search().

create or replace function svc_private.is_searchable(relation regclass, search_id integer)
returns boolean
language sql
stable
set search_path = ''
as $$
  select (
    select count(*) from pg_catalog.pg_trigger t
     where t.tgrelid = relation and t.tgenabled = 'O' and t.tgfoid = 'svc_private.index_rows'::regproc
       and t.tgname in ('svc_search_insert', 'svc_search_update', 'svc_search_delete', 'svc_search_truncate')
       -- The arguments end with a zero byte each.
       and t.tgargs = convert_to(search_id::text, 'UTF8') || '\x00'::bytea
  ) = 4 and not exists (
    select from pg_catalog.pg_attribute a
     where a.attrelid = relation and not a.attisdropped and a.atttypmod between 1 and 2000
       and a.atttypid = to_regtype('extensions.vector')
       and not exists (
         select from pg_catalog.pg_index i join pg_catalog.pg_class c on c.oid = i.indexrelid
          where i.indrelid = relation and i.indisvalid and c.relname = svc_private.nearest_index(relation, a.attname))
  )
$$;

revoke execute on function svc_private.is_searchable(regclass, integer) from svc_system;

comment on function svc_private.is_searchable(regclass, integer) is
  'Whether a table has the triggers, and its vector columns the indexes, that a search needs.';
