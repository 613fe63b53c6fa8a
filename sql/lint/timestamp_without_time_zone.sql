-- A timestamp without a time zone does not say which instant it means; the API takes and returns instants.

create or replace view svc_private.lint_timestamp_without_time_zone as
select 'info' as severity, 'pg_catalog.pg_class'::regclass as catalog, r.oid as object, a.attnum::integer as part,
       format('%s.%I', r.name, a.attname) as name, 'keeps a time without its time zone' as problem,
       format('alter table %1$s alter column %2$I type timestamptz using %2$I at time zone ''UTC''; or the zone of the times in it. '
              'In Drizzle: timestamp(…, { withTimezone: true }).', r.name, a.attname) as remedy
  from svc_private.relations r
  join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
 where r.kind in ('r', 'p') and not r.is_platform and a.atttypid = 'timestamp without time zone'::regtype;

comment on view svc_private.lint_timestamp_without_time_zone is 'Columns of type timestamp.';
