-- The tables that this transaction has read so far, as "schema.name", sorted: those that it holds a lock on. PostgreSQL
-- locks each table that a statement names, also beneath views, in policies and inside functions, and keeps the lock until
-- the transaction ends. A partition is told as the table that it is a part of. Called at the end of a query that is
-- watched (src/call/invoke.ts).
--
-- SECURITY DEFINER, because no request may read pg_locks (sql/grants.sql). It answers for its own process alone. Only the
-- login may execute it: what a query reads is nothing that its caller needs to know.
--
-- "unpublished": those among them that realtime does not follow.
-- "bypassing": for the author, while developing. Functions and views that read with the rights of their owner: functions
-- that these statements name, and views among the locks.

create or replace function svc.tables_read(statements text[] default '{}')
returns table (tables text[], unpublished text[], bypassing text[])
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return query
    with locked as materialized (
      select distinct n.nspname || '.' || c.relname as name, c.relkind,
             'security_invoker=true' = any (coalesce(c.reloptions, '{}')) as is_invoker,
             exists (
               select from pg_catalog.pg_publication_rel r
                 join pg_catalog.pg_publication p on p.oid = r.prpubid
                where r.prrelid = c.oid and p.pubname = 'svc'
             ) as is_published
        from pg_catalog.pg_locks l
        join pg_catalog.pg_class c on c.oid = coalesce(pg_catalog.pg_partition_root(l.relation), l.relation)
        join pg_catalog.pg_namespace n on n.oid = c.relnamespace
       where l.pid = pg_catalog.pg_backend_pid() and l.locktype = 'relation'
         and c.relkind in ('r', 'p', 'f', 'm', 'v')
         and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast')
    )
    select array(select l.name from locked l where l.is_published order by l.name),
           array(select l.name from locked l where not l.is_published and l.relkind <> 'v' order by l.name),
           case when cardinality(statements) = 0 then '{}' else array(
             select l.name from locked l where l.relkind = 'v' and not l.is_invoker
             union
             select p.proname || '()'
               from pg_catalog.pg_proc p
               join pg_catalog.pg_namespace n on n.oid = p.pronamespace
              where p.prosecdef and p.prorettype <> 'pg_catalog.trigger'::regtype
                and n.nspname not in ('pg_catalog', 'svc', 'svc_hidden', 'svc_private', 'svc_crud', 'auth', 'graphile_worker')
                and array_to_string(statements, ' ') ~ ('\m' || regexp_replace(p.proname, '(\W)', '\\\1', 'g') || '\M')
           ) end;
end
$$;

grant execute on function svc.tables_read(text[]) to svc_request;

comment on function svc.tables_read(text[]) is
  'The tables that this transaction has read, for the queries that are watched, and what read past the policies. '
  'Definer: only svc_owner reads pg_locks; it answers for its own transaction.';
