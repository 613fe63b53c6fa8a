-- Deleting a row of the other table looks for rows that refer to it. Without an index, that reads all of this table.

create or replace view svc_private.lint_unindexed_foreign_key as
select 'warning' as severity, 'pg_catalog.pg_constraint'::regclass as catalog, k.oid as object, 0 as part,
       format('%I on %s', k.conname, r.name) as name,
       format('has no index: deleting a row of %s reads all of %s', k.confrelid::regclass, r.name) as problem,
       format('create index on %s (%s);', r.name, (
         select string_agg(quote_ident(a.attname), ', ' order by u.place)
           from unnest(k.conkey) with ordinality as u (attnum, place)
           join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.attnum)) as remedy
  from pg_catalog.pg_constraint k
  join svc_private.relations r on r.oid = k.conrelid
 where k.contype = 'f' and coalesce((to_jsonb(k) ->> 'conenforced')::boolean, true) -- 18: NOT ENFORCED looks for none
   and not exists (
     select from pg_catalog.pg_index i
      where i.indrelid = k.conrelid and i.indpred is null
        and i.indkey[0] = any (k.conkey));

comment on view svc_private.lint_unindexed_foreign_key is 'Foreign keys without an index that begins with one of their columns.';
