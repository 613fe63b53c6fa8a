-- Drops the triggers of webhooks on tables that a migration of the application alters, before it is applied. PostgreSQL refuses
-- to drop, or to give another type to, a column that the WHEN clause of a trigger names. sql/webhooks.sql, which is applied after
-- the migrations, makes the triggers again (svc_private.install_webhooks). Called by src/migrate/migrate.ts, as svc_owner.
--
-- A table of a similar name, or one that a comment names, is locked for nothing; an altered table is locked anyway.

create or replace function svc_private.release_webhooks(migration text)
returns void
language plpgsql
volatile
set search_path = ''
as $$
declare
  each record;
begin
  for each in
    select w.trigger, w.relation
      from svc_private.list_webhooks() w
      join pg_catalog.pg_class c on c.oid = w.relation
     where exists (
       select from regexp_split_to_table(lower(migration collate "C"), ';') as s (statement)
        where s.statement ~ '\malter\s+table\M' and position(lower(c.relname::text collate "C") in s.statement) > 0)
  loop
    execute format('drop trigger %I on %s', each.trigger, each.relation);
  end loop;
end
$$;

revoke execute on function svc_private.release_webhooks(text) from svc_system;

comment on function svc_private.release_webhooks(text) is
  'Drops the triggers of webhooks on tables that a migration alters; sql/webhooks.sql makes them again.';
