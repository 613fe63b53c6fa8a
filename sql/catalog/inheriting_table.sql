-- A table that inherits from this one by INHERITS, other than those named. Row triggers of a table do not fire for rows of such
-- tables, also where a statement names the table itself; those of a partitioned table do. Part of svc_private.install_history() and
-- svc_private.install_webhooks().

create or replace function svc_private.inheriting_table(parent regclass, known regclass[] default '{}')
returns regclass
language sql
stable
set search_path = ''
as $$
  with recursive children as (
    select i.inhrelid as id from pg_catalog.pg_inherits i where i.inhparent = parent
    union
    select i.inhrelid from pg_catalog.pg_inherits i join children c on c.id = i.inhparent
  )
  select c.id::regclass
    from children c join pg_catalog.pg_class r on r.oid = c.id
   where not r.relispartition and c.id <> all (known)
   order by 1
   limit 1
$$;

revoke execute on function svc_private.inheriting_table(regclass, regclass[]) from svc_system;

comment on function svc_private.inheriting_table(regclass, regclass[]) is
  'A table that inherits from this one, other than those named; no partition.';
