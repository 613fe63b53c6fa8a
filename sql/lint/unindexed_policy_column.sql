-- Every query of a request contains the policy's condition. Without an index that begins with its column, each of them
-- reads all rows of the table.

create or replace view svc_private.lint_unindexed_policy_column as
select 'warning' as severity, 'pg_catalog.pg_class'::regclass as catalog, i.relid as object, i.attnum::integer as part,
       format('%s.%I', i.relation_name, i.column_name) as name,
       'is compared with the caller in every query, and no index begins with it' as problem,
       format('create index on %s (%I);', i.relation_name, i.column_name) as remedy
  from svc_private.identity_columns i
 where not exists (
   select from pg_catalog.pg_index x
    where x.indrelid = i.relid and x.indkey[0] = i.attnum and x.indisvalid
      and (x.indpred is null or pg_catalog.pg_get_expr(x.indpred, x.indrelid) = format('(%I IS NOT NULL)', i.column_name)));

comment on view svc_private.lint_unindexed_policy_column is 'Owner columns that no index begins with.';
