-- Triggers of one event fire by name. Those of the history and of webhooks come before the application's now
-- (sql/history/install_history.sql, sql/webhooks/install_webhooks.sql).
do $$
declare
  each record;
begin
  for each in
    select t.tgname as name, t.tgrelid::regclass as relation
      from pg_catalog.pg_trigger t
     where t.tgfoid in (to_regprocedure('svc_private.note_change()'), to_regprocedure('svc_private.note_delivery()'))
       and t.tgparentid = 0 and t.tgname ~ '^svc_'
  loop
    execute format('alter trigger %I on %s rename to %I', each.name, each.relation, '_' || each.name);
  end loop;
end
$$;
