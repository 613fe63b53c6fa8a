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
-- "bypassing": for the author, while developing, and for channels. Functions and views that read with the rights of their owner: views
-- among the locks, and functions that these statements name, that USING of policies by which the caller reads has, that views
-- have, and that such functions call. A name in a string that a function executes counts too.

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
            coalesce((select o.option_value::boolean from pg_catalog.pg_options_to_table(c.reloptions) o
                       where o.option_name = 'security_invoker'), false) as is_invoker,
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
      with recursive app as materialized (
        select p.proname, p.prosecdef and p.prorettype <> 'pg_catalog.trigger'::regtype as is_bypassing, p.prosrc as body,
               p.prosqlbody::text as tree, '\m' || regexp_replace(p.proname, '(\W)', '\\\1', 'g') || '\M' as word,
               'funcid ' || p.oid || ' ' as node -- also of operators and casts
          from pg_catalog.pg_proc p
          join pg_catalog.pg_namespace n on n.oid = p.pronamespace
          join pg_catalog.pg_language g on g.oid = p.prolang and (g.lanname not in ('c', 'internal') or p.prosecdef)
         where n.nspname not in ('pg_catalog', 'information_schema', 'svc', 'svc_hidden', 'svc_private', 'svc_crud', 'auth',
                                 'graphile_worker')
      ), trees as materialized (
        select y.polqual::text as tree
          from pg_catalog.pg_locks l
          join pg_catalog.pg_policy y on y.polrelid = l.relation and y.polcmd in ('r', '*')
         where l.pid = pg_catalog.pg_backend_pid() and l.locktype = 'relation'
           and exists (
             select from unnest(y.polroles) role where role = 0 or pg_catalog.pg_has_role(reader, role, 'member'))
        union
        select w.ev_action::text
          from pg_catalog.pg_locks l
          join pg_catalog.pg_rewrite w on w.ev_class = l.relation
         where l.pid = pg_catalog.pg_backend_pid() and l.locktype = 'relation'
      ), called as (
        select a.* from app a
         where array_to_string(statements, ' ') ~* a.word
            or exists (select from trees t where position(a.node in t.tree) > 0)
        union
        select a.* from called c
          join app a on c.body ~* a.word or position(a.node in c.tree) > 0
      )
      select proname || '()' from called where is_bypassing order by 1);
  end if;
end
$$;

grant execute on function svc.tables_read(text[]) to svc_request;

comment on function svc.tables_read(text[]) is
  'The tables that this transaction has read, for the queries that are watched, and what read past the policies. '
  'Definer: only svc_owner reads pg_locks; it answers for its own transaction.';
