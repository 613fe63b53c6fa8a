-- `order by x desc` puts nulls first. An index over `x desc nulls last` does not serve it, even where x is never null: PostgreSQL
-- sorts all rows that the query finds, and a page of a list costs more with every row. Drizzle's `.desc()` makes such an index.

create or replace view svc_private.lint_descending_nulls_last as
select 'warning' as severity, 'pg_catalog.pg_class'::regclass as catalog, i.indexrelid as object, 0 as part,
       i.indexrelid::regclass::text as name,
       format('is over %s desc nulls last, and serves no order by %1$s desc', wrong.columns) as problem,
       'Write .desc().nullsFirst() for it in the schema, or desc without nulls last in SQL.' as remedy
  from pg_catalog.pg_index i
  join svc_private.relations r on r.oid = i.indrelid
 cross join lateral (
   select string_agg(quote_ident(a.attname), ', ' order by key.place) as columns
     from unnest(i.indkey::smallint[]) with ordinality as key (number, place)
     join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = key.number and a.attnotnull
    where i.indoption[key.place - 1] & 3 = 1 -- descending, and not nulls first
 ) as wrong
 where wrong.columns is not null and not r.is_platform;

comment on view svc_private.lint_descending_nulls_last is
  'Indexes of the application over "desc nulls last" of columns that are never null, which serve no "desc".';
