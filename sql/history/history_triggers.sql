-- The triggers of svc_private.note_change() with the number of their table, for svc_private.install_history(). Without the
-- copies that partitions have.

create or replace function svc_private.history_triggers()
returns table (relation oid, tgname name, enabled boolean, id integer, args bytea)
language sql
stable
set search_path = ''
as $$
  select t.tgrelid, t.tgname, t.tgenabled = 'O',
         substring(pg_catalog.encode(t.tgargs, 'escape') from '^\d+')::integer, t.tgargs
    from pg_catalog.pg_trigger t
   where t.tgfoid = 'svc_private.note_change()'::regprocedure and t.tgparentid = 0
$$;

revoke execute on function svc_private.history_triggers() from svc_system;

comment on function svc_private.history_triggers() is 'The triggers of audited tables with their arguments.';
