-- The tables that this transaction has read so far, as "schema.name", sorted: those that it holds a lock on. PostgreSQL
-- locks each table that a statement names, also beneath views, in policies and inside functions, and keeps the lock until
-- the transaction ends. A partition is told as the table that it is a part of, and sections and chunks of documents as
-- svc.rag_sources, whose row changes with them. Called at the end of a query that is watched (src/call/seen-by.ts).
--
-- SECURITY DEFINER, because no request may read pg_locks (sql/grants.sql). It answers for its own process alone. Only the
-- login may execute it: what a query reads is nothing that its caller needs to know.
--
-- "unpublished": those among them that realtime does not follow. Tables of svc_private are left out: the platform's functions
-- keep there what follows from rows elsewhere, such as the words of a search, which change in the same transaction as the rows.
-- "bypassing": for the author, while developing, and for channels. Functions and views that read with the rights of their owner: functions
-- that these statements name, functions in USING of policies by which the caller reads the tables, and views among the locks. A
-- function that is called by another function alone is not seen.

create or replace function svc.tables_read(
  statements text[] default '{}',
  out tables text[],
  out unpublished text[],
  out bypassing text[]
)
language plpgsql
stable
security definer
set search_path = ''
as $$
declare
  reader name := case when svc.current_user_id() is null then 'svc_reader_anonymous' else 'svc_reader_authenticated' end;
begin
  select coalesce(array_agg(distinct c.name) filter (where c.is_published), '{}'),
         coalesce(array_agg(distinct c.name) filter (where not c.is_published and c.relkind <> 'v'), '{}'),
         coalesce(array_agg(distinct c.name) filter (where c.relkind = 'v' and not c.is_invoker), '{}')
    into tables, unpublished, bypassing
    from pg_catalog.pg_locks l
   -- offset 0: a look-up for each of the few locks, instead of a join with all that the catalog has.
   cross join lateral (
     select n.nspname || '.' || c.relname as name, c.relkind,
            'security_invoker=true' = any (coalesce(c.reloptions, '{}')) as is_invoker,
            exists (
              select from pg_catalog.pg_publication p
                join pg_catalog.pg_publication_rel r on r.prpubid = p.oid
               where p.pubname = 'svc' and r.prrelid = c.oid
            ) as is_published
       from pg_catalog.pg_class c
       join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where c.oid = case when l.relation in ('svc.rag_sections'::regclass, 'svc.rag_chunks'::regclass)
                         then 'svc.rag_sources'::regclass
                         else coalesce(pg_catalog.pg_partition_root(l.relation), l.relation) end
        and c.relkind in ('r', 'p', 'f', 'm', 'v')
        and n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast', 'svc_private')
     offset 0
   ) c
   where l.pid = pg_catalog.pg_backend_pid() and l.locktype = 'relation';

  if cardinality(statements) > 0 then
    bypassing := bypassing || array(
      select p.proname || '()'
        from pg_catalog.pg_proc p
        join pg_catalog.pg_namespace n on n.oid = p.pronamespace
       where p.prosecdef and p.prorettype <> 'pg_catalog.trigger'::regtype
         and n.nspname not in ('pg_catalog', 'svc', 'svc_hidden', 'svc_private', 'svc_crud', 'auth', 'graphile_worker')
         and (array_to_string(statements, ' ') ~ ('\m' || regexp_replace(p.proname, '(\W)', '\\\1', 'g') || '\M')
              or p.oid in (
                select d.refobjid
                  from pg_catalog.pg_locks l
                  join pg_catalog.pg_policy y on y.polrelid = l.relation and y.polcmd in ('r', '*')
                  join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_policy'::regclass and d.objid = y.oid
                  join pg_catalog.pg_proc f on f.oid = d.refobjid
                 where l.pid = pg_catalog.pg_backend_pid() and l.locktype = 'relation'
                   and d.refclassid = 'pg_catalog.pg_proc'::regclass
                   -- A dependency does not say whether USING or WITH CHECK has it. A cast does not name its function: it counts.
                   and (position(replace(f.proname, '"', '""') in pg_catalog.pg_get_expr(y.polqual, y.polrelid)) > 0
                        or position(replace(f.proname, '"', '""') in pg_catalog.pg_get_expr(y.polwithcheck, y.polrelid)) = 0
                        or y.polwithcheck is null)
                   and exists (
                     select from unnest(y.polroles) role
                      where role = 0 or pg_catalog.pg_has_role(reader, role, 'member'))))
       order by 1);
  end if;
end
$$;

grant execute on function svc.tables_read(text[]) to svc_request;

comment on function svc.tables_read(text[]) is
  'The tables that this transaction has read, for the queries that are watched, and what read past the policies. '
  'Definer: only svc_owner reads pg_locks; it answers for its own transaction.';
