-- Every table that holds rows of this database, with the number and hash of its rows. Called by src/backup/take.ts in
-- the snapshot of a backup, and by svc_private.require_restored(), as the administrator.
--
-- Left out: tables of extensions, which the extension makes, and materialized views, which are computed again.

create or replace function svc_private.describe_rows()
returns table (name text, rows bigint, hash text)
language sql
stable
set search_path = ''
as $$
  select format('%I.%I', n.nspname, c.relname), h.rows, h.hash
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   cross join lateral svc_private.hash_rows(c.oid) h
   where c.relkind = 'r' and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
     and not exists (
       select from pg_catalog.pg_depend d
        where d.classid = 'pg_catalog.pg_class'::regclass and d.objid = c.oid and d.deptype = 'e')
$$;

comment on function svc_private.describe_rows() is 'Number and hash of the rows of each table.';
