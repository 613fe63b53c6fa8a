-- The owner's column may be null. A row without an owner is never shown again by a policy for owners. A table is left out if
-- another policy shows its rows without looking at them, such as one for staff.

create or replace view svc_private.lint_dropped_owner_row as
select 'warning' as severity, 'pg_catalog.pg_class'::regclass as catalog, i.relid as object, i.attnum::integer as part,
       format('%s.%I', i.relation_name, i.column_name) as name,
       'is compared with the caller and may be null: a row without an owner disappears' as problem,
       format('alter table %s alter column %I set not null;', i.relation_name, i.column_name) as remedy
  from svc_private.identity_columns i
 where not i.not_null and not i.is_platform
   and not exists (
     select from svc_private.policy_rules s
      where s.relid = i.relid and s.permissive and s.command in ('select', 'all') and not s.names_columns);

comment on view svc_private.lint_dropped_owner_row is 'Owner columns that may be null.';
