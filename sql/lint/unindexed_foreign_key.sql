-- Deleting a row of the other table looks for rows that refer to it. Without an index, that reads all of this table; with one
-- that has only the organization in common with a key of an organization and an id, all rows of the organization.

create or replace view svc_private.lint_unindexed_foreign_key as
select 'warning' as severity, 'pg_catalog.pg_constraint'::regclass as catalog, k.oid as object, 0 as part,
       format('%I on %s', k.conname, r.name) as name,
       format('has no index: deleting a row of %s reads all of %s%s', k.confrelid::regclass, r.name,
         (select ' with the same ' || string_agg(quote_ident(a.attname), ', ' order by a.attnum)
            from pg_catalog.pg_attribute a
           where a.attrelid = k.conrelid and a.attnum = any (k.conkey) and a.attnum <> all (own.columns)
             and exists (
               select from pg_catalog.pg_index i
                where i.indrelid = k.conrelid and i.indpred is null and i.indkey[0] = a.attnum))) as problem,
       format('create index on %s (%s);', r.name, (
         select string_agg(quote_ident(a.attname), ', ' order by u.place)
           from unnest(k.conkey) with ordinality as u (attnum, place)
           join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = u.attnum)) as remedy
  from pg_catalog.pg_constraint k
  join svc_private.relations r on r.oid = k.conrelid
  cross join lateral (
    select coalesce(array_agg(c.attnum) filter (where not exists (
             select from pg_catalog.pg_constraint smaller
              where smaller.conrelid = k.conrelid and smaller.contype = 'f' and c.attnum = any (smaller.conkey)
                and smaller.conkey <@ k.conkey and not smaller.conkey @> k.conkey)), k.conkey) as columns
      from unnest(k.conkey) as c (attnum)) own
 -- An index serves if it begins with columns of the key, and one of them is in no smaller foreign key.
 where k.contype = 'f' and coalesce((to_jsonb(k) ->> 'conenforced')::boolean, true) -- 18: NOT ENFORCED looks for none
   and not exists (
     select from pg_catalog.pg_index i, generate_subscripts(i.indkey, 1) as place
      where i.indrelid = k.conrelid and i.indisvalid
        -- The search excludes nulls, so an index without them serves.
        and (i.indpred is null or pg_catalog.pg_get_expr(i.indpred, i.indrelid) in (
          select format('(%I IS NOT NULL)', a.attname) from pg_catalog.pg_attribute a
           where a.attrelid = k.conrelid and a.attnum = any (k.conkey)))
        and i.indkey[place] = any (own.columns) and (i.indkey::smallint[])[0:place] <@ k.conkey);

comment on view svc_private.lint_unindexed_foreign_key is
  'Foreign keys without an index that begins with their columns, the one that tells rows apart among them.';
